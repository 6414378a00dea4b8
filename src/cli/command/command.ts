import { MeanwhileError } from "../../base/error.ts"
import type { Activity } from "../../desk/activity.ts"
import type { Desk } from "../../desk/desk.ts"
import type { Program, ScreenRuntime } from "../../program/open-program.ts"
import type { OwnWork } from "../start/begun-here.ts"
import type { Session } from "../start/start-session.ts"
import type { Foreground } from "./foreground.ts"
import { type TaskId, toLine } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import type { AgentSelection } from "../view/agent-selection.ts"

/** The means of a command about tasks, at the prompt and in the shell. */
export interface TaskContext {
  readonly meanwhile: ScreenRuntime
  readonly desk: Desk
  readonly screen: Screen
  /** The text before the name of a command where this one was typed: `/` at the prompt. */
  readonly prefix: string
  /** The command that starts the program from a shell, with the store that was asked for. */
  readonly words: string
  /** Aborted by Ctrl+C while the command runs. */
  readonly signal: AbortSignal
  /** The work of this person in a store that others share; null: all work in the store is theirs. */
  readonly own: OwnWork | null
  /** Says when the task ends, however long that takes. */
  announceEnd(taskId: TaskId): void
}

/** The means of a command at the prompt. */
export interface ChatContext extends TaskContext {
  readonly meanwhile: ScreenRuntime & Pick<Program, "instructionFiles">
  /** The session that the person talks with now: another one may take its place. */
  readonly conversation: { readonly session: Session }
  readonly selection: AgentSelection
  readonly activity: Pick<Activity, "list">
  readonly foreground: Foreground
  /** Announces, when a conversation is opened in the chat, its tasks that ended, and from now on the ends of the others. */
  announceOpened(conversation: Session["id"]): Promise<void>
  /** Aborted once the chat no longer waits for a store that is away. */
  readonly gone: AbortSignal
  /** Gives a line back to the person: the store was away, and may not have kept what the line asks for. */
  giveBack(line: string): void
}

export interface Command<Context extends TaskContext = ChatContext> {
  readonly name: string
  /** The name and its arguments, without the slash. */
  readonly usage: string
  readonly summary: string
  /** Set if the command asks for something that is kept: a line is given back to the person if the store did not take it. */
  readonly isKept?: true
  /** `argument` is the rest of the line. Resolves to `quit` if the program should end. */
  run(argument: string, context: Context): Promise<"quit" | void>
}

/** The first word and the rest, as they were typed. */
export function splitLine(line: string): { readonly name: string; readonly argument: string } {
  const trimmed = line.trim()
  const gap = trimmed.search(/\s/)
  return gap < 0
    ? { name: trimmed, argument: "" }
    : { name: trimmed.slice(0, gap), argument: trimmed.slice(gap).trim() }
}

/** Refuses words that a command does not understand, since the person meant something by them. */
export function toUnknownArgument(usage: string, argument: string, hint = ""): MeanwhileError {
  const [name = ""] = usage.split(" ")
  const message = `/${name} does not understand ${JSON.stringify(toLine(argument))}. Usage: /${usage}${hint}`
  return new MeanwhileError("invalid_input", message)
}
