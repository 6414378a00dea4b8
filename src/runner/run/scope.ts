import type { Clock } from "../../base/clock.ts"
import type { Log } from "../../plugin/context.ts"
import type { Engine } from "../../task/engine.ts"
import type { TaskStore } from "../../task/store.ts"
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

// The parts of a runner. A function names the parts that it, or a function it calls, uses: nothing else may be touched there.
export type HasEngine = { readonly engine: Engine }
export type HasStore = { readonly store: TaskStore }
export type HasClock = { readonly clock: Clock }
export type HasLog = { readonly log: Log }
export type HasConfig = { readonly config: BackgroundConfig }
export type HasRedactor = { readonly redactor: Redactor }
export type HasWorker = { readonly worker: Worker }
export type HasActive = { readonly active: ActiveRuns }
export type HasSpool = { readonly spool: Spool }
export type HasSlots = { readonly slots: Slots }
export type HasQueue = { readonly queue: QueueIntake }
export type HasTools = { readonly tools: ToolSource }
export type HasWritten = { readonly written: WrittenTasks }
export type HasPorts = { readonly ports: RunPorts }

/** Writes under the fence of a run. */
export interface FenceScope extends HasStore, HasWorker, HasActive {}

/** Gives up slots and takes them again. */
export interface SlotScope extends HasActive, HasSlots, HasQueue {}

/** Stops a run of this process. */
export interface StopScope extends FenceScope, HasClock, HasConfig, HasLog {}

/** Stops a task wherever it runs. */
export interface CancelScope extends FenceScope, HasActive, HasQueue, HasClock, HasConfig, HasRedactor {}

/** Waits for the end of a task. */
export interface WaitScope extends HasActive, HasEngine, HasStore, HasClock, HasConfig {}

/** Keeps the output of a run. */
export interface OutputScope
  extends FenceScope,
    HasEngine,
    HasSpool,
    HasClock,
    HasConfig,
    HasLog,
    HasRedactor,
    HasWritten {}

/** Executes runs, from their begin to their written end. */
export interface ExecuteScope extends OutputScope, SlotScope, HasTools, HasPorts {}
