import { createNewestMap } from "../../base/newest-map.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { RunReference } from "../../task/operation.ts"
import type { TaskKind, TaskSummary } from "../../task/record.ts"
import type { TakeRequest } from "../../task/dispatcher.ts"

/** The work that this runner takes from the queue, and how it is told to look there. */
export interface QueueIntake {
  /** The kinds of queued tasks that are taken here, turns left out. */
  readonly takesKinds: readonly TaskKind[]
  /** True if turns of conversations can run here. */
  readonly takesTurns: boolean
  /** The only work that a runner takes which leaves others' work alone. Null when it takes everything. */
  readonly own: ReturnType<typeof createOwnWork> | null
  /** The same for turns. A runner that runs no tasks takes only the turns of its open sessions. */
  readonly ownTurns: ReturnType<typeof createOwnWork> | null
  /** Once a look into the queue found it empty, a start with a free slot need not queue. */
  readonly hint: ReturnType<typeof createQueueHint>
  /** True if turns may be queued, which happens only after a crash, a shutdown or an answer. */
  mayHaveQueuedTurns: boolean
  /** Looks for queued work soon. */
  nudge(): void
  /** Looks at once for own work that was left behind. Does nothing in a runner that takes everything. */
  resumeOwnWork(): Promise<void>
}

export interface QueueIntakeOptions {
  readonly takesWork: boolean | "own"
  /** False: this runner leaves every task to others. */
  readonly runsTasks: boolean
  readonly takesKinds: readonly TaskKind[]
  readonly hasTurnHandler: boolean
  readonly openSessions: (() => readonly SessionId[]) | undefined
}

export function createQueueIntake(
  { takesWork, runsTasks, takesKinds, hasTurnHandler, openSessions = () => [] }: QueueIntakeOptions,
  looks: Pick<QueueIntake, "nudge" | "resumeOwnWork">,
): QueueIntake {
  const own = takesWork === "own" ? createOwnWork(openSessions) : null
  return {
    takesKinds: takesKinds.filter((kind) => kind !== "turn"),
    takesTurns: hasTurnHandler && takesKinds.includes("turn"),
    own,
    ownTurns: runsTasks ? own : (own ?? createOwnWork(openSessions)),
    hint: createQueueHint(),
    mayHaveQueuedTurns: true,
    ...looks,
  }
}

/** A hint whether anything may be queued. While it may, a task that is started is queued behind it. */
export function createQueueHint() {
  let mayHaveQueued = true
  let raised = 0
  return {
    get mayHaveQueued() {
      return mayHaveQueued
    },
    raise(): void {
      mayHaveQueued = true
      raised += 1
    },
    /**
     * Call this at the beginning of a look into the queue, and the returned function if the look left nothing behind. Work
     * that was heard of during the look still counts.
     */
    beginLook() {
      const before = raised
      return (): void => {
        if (raised === before) mayHaveQueued = false
      }
    },
  }
}

/** Tasks that a person has left to others, in one life of a process. */
const MOST_LEFT = 10_000

type OwnRun = Pick<RunReference, "taskId" | "run">

/** The own work of a runner that leaves others' work alone: tasks asked for here, and those of its open sessions. */
function createOwnWork(openSessions: () => readonly SessionId[]) {
  const ids = new Set<TaskId>()
  const left = createNewestMap<TaskId, number>(MOST_LEFT)
  const hasSession = (session: SessionId | null): boolean => session !== null && openSessions().includes(session)
  return {
    /** For a task that was created, begun anew, answered or stopped here. */
    add: (id: TaskId): void => void ids.add(id),
    remove: (id: TaskId): void => void ids.delete(id),
    /**
     * Marks a run of own work that is not to run here: a process in the folder that it was asked for takes it. Later runs of
     * the task are not marked. Returns the function that takes the mark back.
     */
    leave({ taskId, run }: OwnRun): () => void {
      const before = left.get(taskId)
      left.set(taskId, run)
      return () => (before === undefined ? left.delete(taskId) : left.set(taskId, before))
    },
    isLeft: ({ taskId, run }: OwnRun): boolean => left.get(taskId) === run,
    has: ({ id, session }: Pick<TaskSummary, "id" | "session">): boolean => ids.has(id) || hasSession(session),
    hasSession,
    toRequest: (): Pick<TakeRequest, "only"> => ({ only: { sessions: openSessions(), tasks: [...ids] } }),
  }
}
