import type { TaskKind } from "../../task/record.ts"
import type { QueueHint } from "../limits/queue-hint.ts"
import type { OwnWork } from "./own-work.ts"

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
