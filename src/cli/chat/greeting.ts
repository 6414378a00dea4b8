import type { Runtime } from "../../app.ts"
import { plain, shortId, toLine } from "../format.ts"
import { openQuestions } from "../inbox.ts"
import type { Screen } from "../screen/screen.ts"
import type { Session } from "./conversation.ts"

const RECALLED_MESSAGES = 2
const RECALLED_CHARACTERS = 300

/** Says with whom a person talks, and of a conversation that goes on, where it was. */
export function greet(screen: Screen, session: Session): void {
  const { style } = screen
  const isResumed = session.history().length > 0
  const what = isResumed ? `Going on with session ${shortId(session.id)}` : "Meanwhile"
  screen.print(`${style.bold(what)}: you talk with ${plain(session.model)}. /help lists the commands.`)
  for (const line of recall(session)) screen.print(style.dim(line))
  if (session.model.startsWith("offline/")) {
    screen.print(style.dim("No key of a provider was found: this model follows a list of sentences. Say: help"))
  }
}

/** Whoever started it may have forgotten, and whoever looks on does not know. */
export function warnOfYes(screen: Screen): void {
  const text = "--yes: every approval is given without asking. The model may do anything you may."
  screen.print(screen.style.yellow(text))
}

function recall(session: Session): readonly string[] {
  const said = session.history().flatMap(({ role, parts }) => {
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join(" ")
    const line = toLine(text)
    const shown = line.length > RECALLED_CHARACTERS ? `${line.slice(0, RECALLED_CHARACTERS - 1)}…` : line
    return line === "" ? [] : [`${role === "user" ? "> " : ""}${shown}`]
  })
  return said.slice(-RECALLED_MESSAGES)
}

export async function tellQuestions(meanwhile: Runtime, screen: Screen): Promise<void> {
  const { length } = await openQuestions(meanwhile)
  if (length === 0) return
  screen.print(`${length === 1 ? "1 task waits" : `${length} tasks wait`} for your answer: see /inbox`)
}
