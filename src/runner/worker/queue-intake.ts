import type { SessionId } from "../../task/id.ts"
import type { TaskKind } from "../../task/record.ts"
import { createQueueHint, type QueueHint } from "../limits/queue-hint.ts"
import { createOwnWork, type OwnWork } from "./own-work.ts"

/** What this runner takes from the queue, and how it is told to look there. */
export interface QueueIntake {
  /** The kinds of queued tasks that are taken here, turns left out. */
  readonly takesKinds: readonly TaskKind[]
  /** Whether turns of conversations can run here. */
  readonly takesTurns: boolean
  /** For a runner that leaves others' work alone; null when it takes everything. */
  readonly own: OwnWork | null
  /** The same for turns. A runner that runs no tasks takes the turns of its open sessions alone. */
  readonly ownTurns: OwnWork | null
  /** Once a look into the queue found it empty, a start with a free slot need not queue. */
  readonly hint: QueueHint
  /** Whether turns may be queued, which they are only after a crash, a shutdown or an answer. */
  mayHaveQueuedTurns: boolean
  /** Looks for queued work soon. */
  nudge(): void
  /** Looks at once for own work that was left behind; does nothing in a runner that looks for everybody's anyway. */
  resumeOwnWork(): Promise<void>
}

export interface QueueIntakeOptions {
  readonly takesWork: boolean | "own"
  /** False: every task is left to others. */
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
