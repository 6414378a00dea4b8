import { toErrorMessage } from "../../base/error.ts"
import type { ExitName } from "../start/exit-code.ts"
import { hasFailed, type LeftWork } from "../../desk/prompt-work.ts"
import { isQuestionTask } from "../../desk/question.ts"
import { shortId, type Task } from "../format/format.ts"
import type { EventOf, TurnAccounting } from "../format/agent-event.ts"

/** The outcome of the prompt's turn. */
export interface Said {
  /** `waiting`: a person must answer something first. `refused`: the prompt was not said. */
  readonly outcome: "completed" | "stopped" | "failed" | "waiting" | "refused"
  readonly text: string
  readonly error: string | null
  readonly accounting: TurnAccounting | null
}

/** Everything that a prompt led to. */
export interface PromptRun {
  readonly session: NonNullable<Task["session"]>
  /** False if nothing was ever said in the session, so that it is not in the store. */
  readonly isKept: boolean
  readonly said: Said
  readonly left: LeftWork
  readonly tasks: readonly Task[]
  readonly reports: readonly EventOf<"report.published">["report"][]
  readonly failedReports: number
  readonly signal: AbortSignal
  /** The command that starts the program for this store. */
  readonly words: string
}

export interface RunOutcome {
  readonly outcome: ExitName
  readonly error: string | null
}

/**
 * The first of these that applies counts: the turn waits for a person or failed, work was stopped, a person is needed,
 * a task or a report failed.
 */
export function toOutcome({ session, said, left, tasks, failedReports, signal, words }: PromptRun): RunOutcome {
  const needsPerson = { outcome: "needs_person", error: `A person is needed: ${words} tasks inbox` } as const
  if (said.outcome === "waiting") return needsPerson
  if (said.outcome !== "completed") return { outcome: said.outcome, error: said.error }
  if (left === "running") return { outcome: "stopped", error: describeStop(signal) }
  if (left === "questions") return needsPerson
  // A subagent deals with its own failed tasks.
  const failed = tasks.filter((task) => task.session === session && hasFailed(task))
  if (failed.length > 0) return { outcome: "failed", error: describeFailed(failed) }
  if (failedReports > 0) return { outcome: "failed", error: "The results of the tasks could not be reported." }
  return { outcome: "completed", error: null }
}

/** The last line of `--json`. */
export function toResult(run: PromptRun): Readonly<Record<string, unknown>> {
  const { session, isKept, said, tasks, reports } = run
  const { outcome, error } = toOutcome(run)
  return {
    type: "result",
    outcome,
    text: said.text,
    ...(error !== null && { error }),
    reports: reports.map(({ text, taskIds, groupId }) => ({ text, taskIds, groupId })),
    tasks: tasks
      .filter((task) => !isQuestionTask(task))
      .map(({ id, title, status, group }) => ({ id, title, status, group })),
    usage: said.accounting?.usage ?? null,
    costMicros: said.accounting?.costMicros ?? null,
    session: isKept ? session : null,
    turn: said.accounting?.turn ?? null,
  }
}

/** The last line of `--json` when no conversation began. */
export function toUnsaidResult({ outcome, error }: RunOutcome): ReturnType<typeof toResult> {
  const nothing = { usage: null, costMicros: null, session: null, turn: null }
  return { type: "result", outcome, text: "", error, reports: [], tasks: [], ...nothing }
}

/** Why a run ended before its work had. */
export function describeStop({ reason }: AbortSignal): string {
  const text = toErrorMessage(reason ?? "the turn was stopped")
  return text.startsWith("stopped") ? text : `stopped: ${text}`
}

function describeFailed(failed: readonly Task[]): string {
  const ids = failed.map(({ id }) => `[${shortId(id)}]`).join(", ")
  return failed.length === 1 ? `A task failed: ${ids}` : `${failed.length} tasks failed: ${ids}`
}
