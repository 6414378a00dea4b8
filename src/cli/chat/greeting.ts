import { shorten } from "../../base/shorten.ts"
import type { ScreenRuntime } from "../../program/open-program.ts"
import { hiddenCommands } from "../command/commands.ts"
import { countOf, plain, shortId, toLine } from "../format/format.ts"
import { openDesk } from "../start/person-desk.ts"
import type { Screen } from "../screen/screen.ts"
import type { Session } from "../start/start-session.ts"

const RECALLED_MESSAGES = 2
const RECALLED_CHARACTERS = 300
/** The last conversation is looked for among so many; one that was used before them is not named. */
const MOST_LOOKED_AT = 100
const LAST_CHARACTERS = 60

/**
 * Says which model answers and, if a conversation goes on, what was said last before the start of the program: later
 * messages are shown as they are said.
 */
export async function greet(
  meanwhile: ScreenRuntime,
  screen: Screen,
  session: Session,
  startedAt: number,
): Promise<void> {
  const { style } = screen
  const isResumed = session.history().length > 0
  const what = isResumed ? `Going on with session ${shortId(session.id)}` : "Meanwhile"
  screen.print(`${style.bold(what)}: you talk with ${plain(session.model)}. /help lists the commands.`)
  for (const line of await recall(session, { before: startedAt })) screen.print(style.dim(line))
  if (!isResumed) await tellLast(meanwhile, screen, session.id)
  if (session.model.startsWith("offline/")) {
    screen.print(
      style.dim("No API key found (set ANTHROPIC_API_KEY or OPENAI_API_KEY). Using the offline demo model. Say: help"),
    )
  }
}

/** A reminder for the person who started the program, and news for everybody else at the screen. */
export function warnOfYes(screen: Screen): void {
  const given = "every approval is given without asking, except to agents in the background"
  const text = `--yes: ${given}. The model may do anything you may.`
  screen.print(screen.style.yellow(text))
}

/** Names the last conversation: after a crash, or a start without --resume, a person looks for it. */
async function tellLast(meanwhile: ScreenRuntime, screen: Screen, own: Session["id"]): Promise<void> {
  const last = (await openDesk(meanwhile).sessions.list(MOST_LOOKED_AT)).find(
    ({ id, name }) => id !== own && name === "main",
  )
  if (!last) return
  const about = toLine(last.description ?? last.title ?? "")
  const what = about === "" ? "" : ` (${shorten(about, LAST_CHARACTERS)})`
  screen.print(
    screen.style.dim(`/resume ${shortId(last.id)} goes on with the last conversation${what}, as --resume does.`),
  )
}

/** Names commands of plugins and files that a built-in command of the same name hides. */
export function warnOfHidden(meanwhile: ScreenRuntime, screen: Screen): void {
  for (const { plugin, command } of hiddenCommands(meanwhile)) {
    const text = `/${toLine(command.name)} of ${toLine(plugin)} cannot be used: there is a built-in command of that name.`
    screen.print(screen.style.yellow(`${text} Give it another one.`))
  }
}

/** The last messages, one line each. */
export async function recall(session: Session, bounds: { readonly before?: number } = {}): Promise<readonly string[]> {
  const said = await session.recall({ count: RECALLED_MESSAGES, ...bounds })
  return said.map(({ by, text }) => {
    const line = toLine(text)
    const shown = shorten(line, RECALLED_CHARACTERS)
    return by === "person" ? `> ${shown}` : shown
  })
}

export async function tellQuestions(meanwhile: ScreenRuntime, screen: Screen): Promise<void> {
  const { length } = await openDesk(meanwhile).inbox.list()
  if (length === 0) return
  screen.print(`${countOf(length, "task")} ${length === 1 ? "waits" : "wait"} for your answer: see /inbox`)
}
