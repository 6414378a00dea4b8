import { isMeanwhileError, MeanwhileError } from "../base/error.ts"
import { lookUntil } from "../base/look-until.ts"
import type { StopRequest } from "../plugin/stop-request.ts"
import type { SendOptions, Session, TurnResult } from "../session/conversation/session.ts"
import { toGivenId } from "../task/given-id.ts"
import type { SessionId, TaskId } from "../task/id.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"
import type { TaskRecord, TaskSummary } from "../task/record.ts"
import { type SessionBusy, toSessionBusy } from "../task/session-busy.ts"
import type { DeskScope } from "./desk-options.ts"
import type { Inbox, InboxItem } from "./inbox.ts"
import { listAll } from "./list-all.ts"

/** Wake-ups may be lost: after so long a turn that has not ended is read again in any case. */
const LOOK_EVERY_MS = 1_000

/** The turn of a session that has not ended. */
export interface DeskTurn {
  readonly id: TaskId
  readonly session: SessionId
  readonly title: string
  readonly status: TaskSummary["status"]
  /**
   * `here`: this process runs it, or is the one that takes it from the queue. `elsewhere`: another process does.
   * `person`: no process has it until a person has answered.
   */
  readonly where: "here" | "elsewhere" | "person"
}

export interface TurnWait {
  /** Ends the wait. */
  readonly signal: AbortSignal
  /** Called with the question that the turn waits for, and with null once it was answered. */
  readonly onQuestion: (question: InboxItem | null) => void | Promise<void>
}

/** The end of a turn that another process had, and its answer. */
export interface TurnAnswer {
  readonly task: TaskRecord
  readonly text: string
  /** True if the turn came back to this process, which has shown its answer as events. */
  readonly isShown: boolean
}

export interface DeskSendOptions extends SendOptions {
  /** True if the session is known to have a turn here, or a message that waits here: then this one waits behind it at once. */
  readonly isQueued?: boolean
}

/** The turns of one workspace: one at a time in each session, in whichever process. */
export interface Turns {
  /**
   * Sends a message that waits for turns of this process alone. While another process has the session's turn it is refused as
   * `session_busy`, so that a screen can say whose answer it waits for.
   */
  send(session: Pick<Session, "send">, message: string, options?: DeskSendOptions): Promise<TurnResult>
  /** Turns that have not ended, without those of subagents. */
  list(): Promise<readonly DeskTurn[]>
  /** Waits for the end; returns the turn as it stands when the signal aborts. */
  wait(turn: string, wait: TurnWait): Promise<TaskRecord>
  /** Waits for the end, and returns the turn with what the agent answered in it. */
  answer(session: Pick<Session, "on" | "recall">, turn: string, wait: TurnWait): Promise<TurnAnswer>
  stop(turn: string, request?: StopRequest): Promise<TaskRecord>
  /**
   * Promotes the calls that a turn waits for, as far as possible, and returns their tasks. Refused as `wrong_state` unless
   * this process runs the turn: no other process has its calls.
   */
  promote(turn: string): Promise<readonly TaskId[]>
}

interface TurnsScope extends Pick<DeskScope, "workspace" | "clock" | "closing" | "promote"> {
  readonly store: Pick<DeskScope["store"], "task">
  readonly tasks: Pick<DeskScope["tasks"], "list" | "get" | "cancel" | "runsHere" | "takesTurns">
  readonly bus: Pick<DeskScope["bus"], "subscribeTask">
}

export function createTurns(scope: TurnsScope, inbox: Pick<Inbox, "of">): Turns {
  const { workspace, store, tasks, bus, clock, closing, promote } = scope

  function toPlace({ id, status, session }: TaskSummary): DeskTurn["where"] {
    if (status === "waiting") return "person"
    if (status === "queued") return session !== null && tasks.takesTurns(session) ? "here" : "elsewhere"
    return tasks.runsHere(id) ? "here" : "elsewhere"
  }

  function isHere({ turn, status, session }: SessionBusy): boolean {
    if (turn === null) return true
    return status === "queued" ? tasks.takesTurns(session) : tasks.runsHere(turn)
  }

  async function send(
    session: Pick<Session, "send">,
    message: string,
    { isQueued = false, ...options }: DeskSendOptions = {},
  ): Promise<TurnResult> {
    if (isQueued) return session.send(message, options)
    try {
      return await session.send(message, { ...options, whenBusy: "refuse" })
    } catch (error) {
      const busy = toSessionBusy(error)
      if (!busy || !isHere(busy)) throw error
      return session.send(message, options)
    }
  }

  async function wait(given: string, { signal, onQuestion }: TurnWait): Promise<TaskRecord> {
    const turn = toGivenId("task", given, "turn")
    let asked: InboxItem["id"] | null = null
    const read = async (): Promise<TaskRecord> => {
      const task = await store.task(turn)
      return task?.workspace === workspace ? task : (await tasks.get(turn, workspace)).task
    }
    const ended = await lookUntil({
      clock,
      pollMs: LOOK_EVERY_MS,
      signals: [signal, closing],
      keepsProcessAlive: true,
      subscribe: (wake) => bus.subscribeTask(turn, wake),
      async look() {
        const task = await read()
        if ("endedAt" in task) return task
        const question = task.status === "waiting" ? ((await inbox.of(turn)) ?? null) : null
        if ((question?.id ?? null) !== asked) await onQuestion(question)
        asked = question?.id ?? null
        return undefined
      },
    })
    return ended ?? read()
  }

  return {
    send,
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
    async promote(turn) {
      const { task } = await tasks.get(turn, workspace)
      if (task.kind === "turn" && task.session !== null && tasks.runsHere(task.id)) return promote(task.session)
      const text =
        "endedAt" in task
          ? `Turn ${task.id} has ended, so it has no calls that could move to the background.`
          : `Turn ${task.id} does not run in this process, so its calls cannot be moved to the background here.`
      throw new MeanwhileError("wrong_state", text, { taskId: task.id, status: task.status })
    },
  }
}

/** The turn that another worker has taken over from this process; undefined if the error is about something else. */
export function toTakenTurn(error: unknown): TaskId | undefined {
  const id = isMeanwhileError(error, "stale_claim") ? error.details["taskId"] : undefined
  return typeof id === "string" ? (id as TaskId) : undefined
}

/** The turn because of which a session refused a message. */
export interface BusyTurn {
  readonly turn: TaskId
  /** True if no process has the turn until a person has answered. */
  readonly isWaiting: boolean
}

export function toBusyTurn(error: unknown): BusyTurn | undefined {
  const busy = toSessionBusy(error)
  return busy?.turn ? { turn: busy.turn, isWaiting: busy.status === "waiting" } : undefined
}
