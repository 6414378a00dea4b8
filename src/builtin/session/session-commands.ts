import { MeanwhileError } from "../../base/error.ts"
import { formatLocalTime } from "../../base/local-time.ts"
import type { CommandContext, UserCommand } from "../../plugin/user-command.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionDirectory, SessionInfo, SessionState } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"
import { toDescription } from "./description.ts"

/**
 * Where a session plugin keeps the conversations of one workspace. What people and models can do with them is the same for
 * all shelves.
 */
export interface SessionShelf extends Pick<SessionPlugin, "load" | "list" | "delete" | "setDescription"> {
  /** Returns where the conversation now is, in words for the person. */
  save(state: SessionState): Promise<string>
  /** Makes sure that the runtime can go on with the conversation; returns the id to go on with. */
  open(id: SessionId): Promise<SessionId>
}

export type ShelfIn = (directory: SessionDirectory) => SessionShelf

/** `maxShown`: how many a list shows. Each command works on the shelf of its conversation's workspace. */
export function createSessionCommands(shelfIn: ShelfIn, maxShown: () => number): readonly UserCommand[] {
  const shelfOf = ({ sessions }: CommandContext): SessionShelf => shelfIn(sessions.directory)
  const showList = async (context: CommandContext): Promise<string> =>
    formatSessions(await shelfOf(context).list(), { current: context.session, most: maxShown() })

  return [
    {
      name: "save",
      description: "save this conversation now",
      async run(argument, context) {
        refuseArgument("save", argument)
        const state = await context.state()
        return state ? shelfOf(context).save(state) : "There is no conversation here to save."
      },
    },
    {
      name: "sessions",
      description: "list the conversations, the last used first",
      run(argument, context) {
        refuseArgument("sessions", argument)
        return showList(context)
      },
    },
    {
      name: "resume",
      usage: "[NUMBER|ID]",
      description:
        "go on with another conversation, by its number in the list or its id; without either, show the list",
      async run(argument, context) {
        const wanted = argument.trim()
        if (wanted === "") return showList(context)
        const shelf = shelfOf(context)
        const chosen = findByNumberOrId(await shelf.list(), wanted)
        if (chosen.id === context.session) return "You are in this conversation already."
        const id = await shelf.open(chosen.id)
        await context.switchTo(id)
        return `Going on with ${id}: ${formatSession(chosen)}`
      },
    },
    {
      name: "delete-session",
      usage: "ID",
      description: "delete a conversation for good, by its id or the beginning of it; asks first",
      run: (argument, context) => deleteSession(shelfOf(context), argument.trim(), context),
    },
  ]
}

function refuseArgument(name: string, argument: string): void {
  const word = argument.trim()
  if (word === "") return
  const message = `/${name} does not understand ${JSON.stringify(word.slice(0, 80))}. Usage: /${name}`
  throw new MeanwhileError("invalid_input", message)
}

async function deleteSession(shelf: SessionShelf, wanted: string, context: CommandContext): Promise<string> {
  if (wanted === "") {
    throw new MeanwhileError("invalid_input", "Say which conversation: /delete-session ID. /sessions shows the ids.")
  }
  const all = await shelf.list()
  const chosen = findById(all, wanted)
  if (chosen.id === context.session) {
    const way =
      all.length > 1 ? "Go on with another one first: /resume ID." : "Begin another one first, with a new start."
    throw new MeanwhileError("wrong_state", `This is the conversation you are in. ${way}`)
  }
  const answer = await context.person.ask(
    {
      kind: "approval",
      text: "Delete this conversation for good? Its tasks are stopped.",
      detail: `${chosen.id}  ${formatSession(chosen)}`,
      fallback: "no",
    },
    context.signal,
  )
  if (!answer.isAnswered) return `Nothing was deleted: ${answer.reason}`
  if (!/^y(es)?$/i.test(answer.value.trim())) return "Nothing was deleted."
  return (await shelf.delete(chosen.id)) ? `Deleted ${chosen.id}.` : `${chosen.id} was gone already.`
}

const MOST_CANDIDATES = 5

/** The conversation a person means by an id or by the beginning of one. */
function findById(sessions: readonly SessionInfo[], text: string): SessionInfo {
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

/** As `findById`, or by the number in the list, where 1 is the last used. */
function findByNumberOrId(sessions: readonly SessionInfo[], text: string): SessionInfo {
  const numbered = /^\d{1,3}$/.test(text) ? sessions[Number(text) - 1] : undefined
  return numbered ?? findById(sessions, text)
}

const SHORTEST_ID = 8
const MAIN = "main"

/** The list with the numbers that `resume` takes. The conversation that the person is in is marked. */
function formatSessions(
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

/** The line of a conversation in the list, without its id. */
function formatSession(session: SessionInfo): string {
  const { turns, updatedAt } = session
  const time = formatLocalTime(updatedAt).slice(0, 16)
  const count = `${turns} ${turns === 1 ? "turn" : "turns"}`.padStart(9)
  return `${time}  ${count}  ${toWords(session)}`
}

/** A conversation without a description is shown by what was said first; one that is not named `main`, with its name. */
function toWords({ name = MAIN, title, description, turns }: SessionInfo): string {
  const nothing = turns > 0 ? "(no description)" : "(nothing was said)"
  const words = toDescription(description ?? "") || toDescription(title ?? "") || nothing
  return name === MAIN ? words : `${toDescription(name)}: ${words}`
}

/** The shortest length at which all ids differ. */
function toIdLength(sessions: readonly SessionInfo[]): number {
  const longest = Math.max(...sessions.map(({ id }) => id.length))
  let length = Math.min(SHORTEST_ID, longest)
  while (length < longest && new Set(sessions.map(({ id }) => id.slice(0, length))).size < sessions.length) length += 1
  return length
}
