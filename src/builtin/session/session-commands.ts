import { MeanwhileError } from "../../base/error.ts"
import type { CommandContext, UserCommand } from "../../plugin/user-command.ts"
import { formatSession, formatSessions } from "./session-list.ts"
import type { SessionShelf } from "./session-shelf.ts"
import type { SessionInfo } from "../../plugin/sessions-port.ts"

/** `maxShown`: how many a list shows. */
export function createSessionCommands(shelf: SessionShelf, maxShown: () => number): readonly UserCommand[] {
  const showList = async ({ session }: CommandContext): Promise<string> =>
    formatSessions(await shelf.list(), { current: session, most: maxShown() })

  return [
    {
      name: "save",
      description: "save this conversation now",
      async run(argument, context) {
        refuseArgument("save", argument)
        const state = await context.state()
        return state ? shelf.save(state) : "There is no conversation here to save."
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
      run: (argument, context) => deleteSession(shelf, argument.trim(), context),
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
  const chosen = findById(await shelf.list(), wanted)
  if (chosen.id === context.session) {
    throw new MeanwhileError(
      "wrong_state",
      "This is the conversation you are in. Go on with another one first: /resume ID.",
    )
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

/** As above, or by its number in the list, which is 1 for the last used. */
function findByNumberOrId(sessions: readonly SessionInfo[], text: string): SessionInfo {
  const numbered = /^\d{1,3}$/.test(text) ? sessions[Number(text) - 1] : undefined
  return numbered ?? findById(sessions, text)
}
