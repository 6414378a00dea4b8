import type { SessionInfo } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"
import { toDescription } from "./description.ts"

const SHORTEST_ID = 8
const MAIN = "main"

/** Numbered, as `resume` takes the numbers. The one the person is in is marked. */
export function formatSessions(
  sessions: readonly SessionInfo[],
  { current, most }: { readonly current: SessionId | null; readonly most: number },
): string {
  if (sessions.length === 0) return "There are no conversations yet."
  const idLength = toIdLength(sessions)
  const width = String(Math.min(sessions.length, most)).length
  const lines = sessions.slice(0, most).map((session, index) => {
    const mark = session.id === current ? "*" : " "
    return `${mark} ${String(index + 1).padStart(width)}  ${session.id.slice(0, idLength)}  ${formatSession(session)}`
  })
  const more = sessions.length - lines.length
  return [...lines, ...(more > 0 ? [`  and ${more} older`] : []), "/resume NUMBER or ID goes on with one."].join("\n")
}

/** Without its id. */
export function formatSession(session: SessionInfo): string {
  const { turns, updatedAt } = session
  const time = `${new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ")} UTC`
  const count = `${turns} ${turns === 1 ? "turn" : "turns"}`.padStart(9)
  return `${time}  ${count}  ${toWords(session)}`
}

/** Until a conversation is described, it is known by what was said first. One that nobody talks in is marked. */
function toWords({ name = MAIN, title, description, turns }: SessionInfo): string {
  const nothing = turns > 0 ? "(no description)" : "(nothing was said)"
  const words = toDescription(description ?? "") || toDescription(title ?? "") || nothing
  return name === MAIN ? words : `${toDescription(name)}: ${words}`
}

/** As short as tells them all apart. */
function toIdLength(sessions: readonly SessionInfo[]): number {
  const longest = Math.max(...sessions.map(({ id }) => id.length))
  let length = Math.min(SHORTEST_ID, longest)
  while (length < longest && new Set(sessions.map(({ id }) => id.slice(0, length))).size < sessions.length) length += 1
  return length
}
