import type { Clock } from "../../base/clock.ts"
import type { Log } from "../../plugin/context.ts"
import type { Engine } from "../../task/engine.ts"
import type { TaskStore } from "../../task/store.ts"
import type { Admission } from "../admit/permission.ts"
import type { BackgroundConfig } from "../limits/background-config.ts"
import type { Slots } from "../limits/slots.ts"
import type { Redactor } from "../redaction/redactor.ts"
import type { Spool } from "../spool/spool.ts"
import type { ToolSource } from "../tool/tool-source.ts"
import type { QueueIntake } from "../worker/queue-intake.ts"
import type { Worker } from "../worker/worker.ts"
import type { ActiveRuns } from "./active-runs.ts"
import type { RunPorts } from "./run-ports.ts"
import type { WrittenTasks } from "./written-tasks.ts"

/** What the parts of one runner share. */
export interface RunnerScope {
  readonly engine: Engine
  readonly store: TaskStore
  readonly clock: Clock
  readonly log: Log
  readonly config: BackgroundConfig
  readonly redactor: Redactor
  readonly worker: Worker
  readonly active: ActiveRuns
  readonly spool: Spool
  readonly slots: Slots
  readonly queue: QueueIntake
  readonly tools: ToolSource
  readonly written: WrittenTasks
  readonly admission: Admission
  readonly ports: RunPorts
}
