import { MeanwhileError } from "../../base/error.ts"
import type { SessionInfo } from "../../plugin/sessions-port.ts"
import { formatSession } from "./session-list.ts"

const MOST_CANDIDATES = 5

/** The conversation a person means by an id or by the beginning of one. */
export function findById(sessions: readonly SessionInfo[], text: string): SessionInfo {
  const wanted = text.toLowerCase()
  const exact = sessions.find(({ id }) => id === text)
  const found = exact ? [exact] : sessions.filter(({ id }) => id.toLowerCase().startsWith(wanted))
  const [first] = found
  if (!first) {
    throw new MeanwhileError(
      "not_found",
      `There is no conversation ${text.slice(0, 80)}. /sessions shows those there are.`,
    )
  }
  if (found.length === 1) return first
  const shown = found.slice(0, MOST_CANDIDATES).map((session) => `  ${session.id}  ${formatSession(session)}`)
  const more = found.length > shown.length ? `\n  and ${found.length - shown.length} more` : ""
  throw new MeanwhileError(
    "ambiguous_id",
    `${found.length} conversations begin with ${text}. Give more of the id:\n${shown.join("\n")}${more}`,
  )
}

/** As above, or by its number in the list, which is 1 for the last used. */
export function findByNumberOrId(sessions: readonly SessionInfo[], text: string): SessionInfo {
  const numbered = /^\d{1,3}$/.test(text) ? sessions[Number(text) - 1] : undefined
  return numbered ?? findById(sessions, text)
}
