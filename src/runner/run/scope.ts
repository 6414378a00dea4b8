import type { Clock } from "../../base/clock.ts"
import type { LiveMap } from "../../base/live-map.ts"
import type { ConversationPortsOf, Log } from "../../plugin/context.ts"
import type { TaskService } from "../../plugin/task-service.ts"
import type { Engine } from "../../task/engine.ts"
import type { TaskId } from "../../task/id.ts"
import type { TaskKind, TaskRecord } from "../../task/record.ts"
import type { TaskStore } from "../../task/store.ts"
import type { AgentsPort } from "./agents-port.ts"
import type { ActiveRun } from "./active-run.ts"
import type { BackgroundConfig } from "../limits/background-config.ts"
import type { Durations } from "../tool/durations.ts"
import type { FamilyLock } from "../admit/family-lock.ts"
import type { Permission } from "../admit/permission.ts"
import type { Redactor } from "../redaction/redactor.ts"
import type { OwnWork } from "../worker/own-work.ts"
import type { QueueHint } from "../limits/queue-hint.ts"
import type { Slots } from "../limits/slots.ts"
import type { SessionWork } from "../worker/session-work.ts"
import type { Spool } from "../spool/spool.ts"
import type { ToolSource } from "../tool/tool-source.ts"
import type { SpoolHome } from "../worker/spool-home.ts"
import type { Worker } from "../worker/worker.ts"

/** What the parts of one runner share. */
export interface RunnerScope extends SpoolHome {
  readonly engine: Engine
  readonly store: TaskStore
  readonly clock: Clock
  readonly config: BackgroundConfig
  readonly tools: ToolSource
  readonly permission: Permission
  readonly redactor: Redactor
  readonly spool: Spool
  readonly log: Log
  readonly slots: Slots
  readonly durations: Durations
  readonly worker: Worker
  /** Of a runner that leaves others' work alone; null when it takes everything. */
  readonly own: OwnWork | null
  /** Whose turns are taken from the queue; null: everybody's. Who runs no tasks takes those of its open sessions alone. */
  readonly ownTurns: OwnWork | null
  readonly sessionWork: SessionWork
  /** What runs in this process now, foreground calls included. */
  readonly active: LiveMap<TaskId, ActiveRun>
  /** Runs that wait for others, each with those above it whose slots it has given up. */
  readonly yielding: Set<{ readonly run: ActiveRun; readonly given: ActiveRun[] }>
  /** Tasks that are being written and will run here. */
  readonly entering: Set<Promise<unknown>>
  /** Aborted at the end of a shutdown: whoever still waits for a task gets it as it stands. */
  readonly closed: AbortController
  readonly families: FamilyLock
  /** Inputs that held a secret: never stored, so only this process can run them. */
  readonly heldInputs: Map<TaskId, unknown>
  /** What tools get as `context.tasks`. */
  readonly service: TaskService
  /** What a tool reaches beyond its task; null in a runner without conversations. */
  readonly conversations: ConversationPortsOf | null
  /** The conversations of agent tasks; null in a runner without any. */
  readonly agents: AgentsPort | null
  /** Told of every task that is written or begun anew here, and of the number of the last event before that. */
  readonly onTask: (task: TaskRecord, sinceSequence: number) => void
  /** Looks at once for what was left of its own work; nothing in a runner that looks for all of it anyway. */
  readonly takeUpOwn: () => Promise<void>
  /** Looks for queued work soon. */
  readonly nudge: () => void
  /** Once a look into the queue found it empty, a start with a free slot need not queue. */
  readonly queueHint: QueueHint
  /** Whether turns may be queued, which they are only after a crash, a shutdown or an answer. */
  mayHaveQueuedTurns: boolean
  /** Of what is queued, the kinds that are taken here, beside turns. */
  readonly takesKinds: readonly TaskKind[]
  /** Whether a conversation's turns can run here. */
  readonly takesTurns: boolean
  isClosing: boolean
  /** How many reports may follow from one another by the tasks that they start. */
  readonly maxHops: number
}
