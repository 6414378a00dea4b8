import type { Runtime } from "../../app.ts"
import { hiddenCommands } from "../command/commands.ts"
import { plain, shortId, toLine } from "../format.ts"
import { openDesk } from "../person-desk.ts"
import type { Screen } from "../screen/screen.ts"
import type { Session } from "./conversation.ts"

const RECALLED_MESSAGES = 2
const RECALLED_CHARACTERS = 300
const LAST_CHARACTERS = 60

export interface Greeting {
  readonly session: Session
  /** Of the program: what is said since then is shown as it is said. */
  readonly startedAt: number
}

/** Says with whom a person talks, and of a conversation that goes on, where it was. */
export async function greet(meanwhile: Runtime, screen: Screen, { session, startedAt }: Greeting): Promise<void> {
  const { style } = screen
  const isResumed = session.history().length > 0
  const what = isResumed ? `Going on with session ${shortId(session.id)}` : "Meanwhile"
  screen.print(`${style.bold(what)}: you talk with ${plain(session.model)}. /help lists the commands.`)
  for (const line of await recall(session, { before: startedAt })) screen.print(style.dim(line))
  if (!isResumed) await tellLast(meanwhile, screen, session.id)
  if (session.model.startsWith("offline/")) {
    screen.print(style.dim("No key of a provider was found: this model follows a list of sentences. Say: help"))
  }
}

/** Whoever started it may have forgotten, and whoever looks on does not know. */
export function warnOfYes(screen: Screen): void {
  const text = "--yes: every approval is given without asking. The model may do anything you may."
  screen.print(screen.style.yellow(text))
}

/** After a crash, or a start that should have gone on, a person looks for what they said before, answered or not. */
async function tellLast({ sessions }: Runtime, screen: Screen, own: Session["id"]): Promise<void> {
  const last = (await sessions.list()).find(({ id, name }) => id !== own && name === "main")
  if (!last) return
  const about = toLine(last.description ?? last.title ?? "")
  const what =
    about === "" ? "" : ` (${about.length > LAST_CHARACTERS ? `${about.slice(0, LAST_CHARACTERS - 1)}…` : about})`
  screen.print(
    screen.style.dim(`/resume ${shortId(last.id)} goes on with the last conversation${what}, as --resume does.`),
  )
}

/** A command of a plugin, or of a file, that one of the program stands before, or another of its name. */
export function warnOfHidden(meanwhile: Runtime, screen: Screen): void {
  for (const { plugin, command } of hiddenCommands(meanwhile)) {
    const text = `/${toLine(command.name)} of ${toLine(plugin)} cannot be used: there is a built-in command of that name.`
    screen.print(screen.style.yellow(`${text} Give it another one.`))
  }
}

/** The last of what was said. */
export async function recall(session: Session, bounds: { readonly before?: number } = {}): Promise<readonly string[]> {
  const said = await session.recall({ count: RECALLED_MESSAGES, ...bounds })
  return said.map(({ by, text }) => {
    const line = toLine(text)
    const shown = line.length > RECALLED_CHARACTERS ? `${line.slice(0, RECALLED_CHARACTERS - 1)}…` : line
    return by === "person" ? `> ${shown}` : shown
  })
}

export async function tellQuestions(meanwhile: Runtime, screen: Screen): Promise<void> {
  const { length } = await openDesk(meanwhile).inbox.list()
  if (length === 0) return
  screen.print(`${length === 1 ? "1 task waits" : `${length} tasks wait`} for your answer: see /inbox`)
}
