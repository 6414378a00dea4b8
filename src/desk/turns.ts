import { isMeanwhileError } from "../base/error.ts"
import type { StopRequest } from "../plugin/stop-request.ts"
import type { TaskService } from "../plugin/task-service.ts"
import type { Runner } from "../runner/runner.ts"
import type { Session } from "../session/conversation/session.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"
import type { TaskRecord, TaskSummary } from "../task/record.ts"
import type { Inbox, InboxItem } from "./inbox.ts"
import { listAll } from "./list-all.ts"

/** How often a turn that has not ended is looked at: it may wait for a person by now. */
const LOOK_EVERY_MS = 1_000

/** The turn of a session that has not ended. */
export interface DeskTurn {
  readonly id: TaskId
  readonly session: SessionId
  readonly title: string
  readonly status: TaskSummary["status"]
  /**
   * `here`: this process runs it, or is the one that takes it from the queue. `elsewhere`: another process does.
   * `person`: no
   * process has it until a person has answered.
   */
  readonly where: "here" | "elsewhere" | "person"
}

export interface TurnWait {
  /** Nobody waits any more. */
  readonly signal: AbortSignal
  /** The turn stands still until a person has answered this; null: it was answered. */
  readonly onQuestion: (question: InboxItem | null) => void | Promise<void>
}

/** The end of a turn that another process had, and its answer. */
export interface TurnAnswer {
  readonly task: TaskRecord
  readonly text: string
  /** The turn came back to this process, which has shown its answer as events. */
  readonly isShown: boolean
}

/** The turns of one workspace: one at a time in each session, in whichever process. */
export interface Turns {
  /** Turns that have not ended, without those of subagents. */
  list(): Promise<readonly DeskTurn[]>
  /** Waits for the end; returns the turn as it stands when the signal aborts. */
  wait(turn: TaskId, wait: TurnWait): Promise<TaskRecord>
  /** The same, with what the agent answered in it. */
  answer(session: Pick<Session, "on" | "recall">, turn: TaskId, wait: TurnWait): Promise<TurnAnswer>
  stop(turn: TaskId, request: StopRequest): Promise<TaskRecord>
}

export type TurnTasks = Pick<TaskService, "list" | "result" | "cancel"> & Pick<Runner, "runsHere" | "takesTurns">

export function createTurns(workspace: WorkspaceId, tasks: TurnTasks, inbox: Pick<Inbox, "of">): Turns {
  function toPlace({ id, status, session }: TaskSummary): DeskTurn["where"] {
    if (status === "waiting") return "person"
    if (status === "queued") return session !== null && tasks.takesTurns(session) ? "here" : "elsewhere"
    return tasks.runsHere(id) ? "here" : "elsewhere"
  }

  async function wait(turn: TaskId, { signal, onQuestion }: TurnWait): Promise<TaskRecord> {
    let asked: InboxItem["id"] | null = null
    for (let waitMs = 0; ; waitMs = LOOK_EVERY_MS) {
      const { task } = await tasks.result(turn, { waitMs, signal }, workspace)
      if ("endedAt" in task || signal.aborted) return task
      const question = task.status === "waiting" ? ((await inbox.of(turn)) ?? null) : null
      if ((question?.id ?? null) !== asked) await onQuestion(question)
      asked = question?.id ?? null
    }
  }

  return {
    async list() {
      const turns: DeskTurn[] = []
      for await (const turn of listAll(tasks, { workspace, kinds: ["turn"], statuses: LIVE_STATUSES })) {
        const { id, session, title, status, parentTask } = turn
        // A turn below a task is that of a subagent.
        if (session && parentTask === null) turns.push({ id, session, title, status, where: toPlace(turn) })
      }
      return turns
    },
    wait,
    async answer(session, turn, options) {
      let isShown = false
      const unlisten = session.on((event) => {
        if (event.type === "turn.completed" && event.accounting.turn === turn) isShown = true
      })
      try {
        const task = await wait(turn, options)
        if (task.status !== "completed") return { task, text: "", isShown }
        // Only up to its end: the next message may have been answered already.
        const said = await session.recall({ count: 1, before: task.endedAt + 1 })
        return { task, text: said.find(({ by }) => by === "agent")?.text ?? "", isShown }
      } finally {
        unlisten()
      }
    },
    stop: (turn, request) => tasks.cancel(turn, request, workspace),
  }
}

/** The turn that another worker has taken over from this process; undefined: the error is about something else. */
export function toTakenTurn(error: unknown): TaskId | undefined {
  const id = isMeanwhileError(error, "stale_claim") ? error.details["taskId"] : undefined
  return typeof id === "string" ? (id as TaskId) : undefined
}

/** The turn because of which a session refused a message. */
export interface BusyTurn {
  readonly turn: TaskId
  /** No process has it until a person has answered. */
  readonly isWaiting: boolean
}

export function toBusyTurn(error: unknown): BusyTurn | undefined {
  if (!isMeanwhileError(error, "session_busy") || error.details.turn === null) return undefined
  const { turn, status } = error.details
  return { turn: turn as TaskId, isWaiting: status === "waiting" }
}
