import { type Clock, systemClock, createStoreClock } from "../base/clock.ts"
import type { Log } from "../plugin/context.ts"
import type { Registry } from "../plugin/registry.ts"
import type { TaskService } from "../plugin/task-service.ts"
import type { WorkerView } from "../plugin/worker-view.ts"
import type { Engine } from "../task/engine.ts"
import type { TaskEvent } from "../task/event.ts"
import type { SessionId } from "../task/id.ts"
import { TASK_KINDS, type TaskKind } from "../task/record.ts"
import type { CountFilter } from "../plugin/task-filter.ts"
import { createActiveRuns } from "./run/active-runs.ts"
import type { ConversationsPort } from "./run/run-ports.ts"
import { createWrittenTasks, type WrittenTasks } from "./run/written-tasks.ts"
import { bindToRun } from "./service/bind-service.ts"
import { type BackgroundConfigInput, toBackgroundConfig } from "./limits/background-config.ts"
import { createDurations } from "./tool/durations.ts"
import { createFamilyLock } from "./admit/child-limits.ts"
import { createRemoteStops } from "./stop/remote-stops.ts"
import { loseRuns } from "./run/stop-run.ts"
import { allowAll, type Permission } from "./admit/permission.ts"
import { thisProcessIdentity } from "./process/identity.ts"
import { createQueueIntake } from "./worker/queue-intake.ts"
import { createPump, type Pump } from "./queue/pump.ts"
import { createReclaim, type Reclaim, resumeOwnWork } from "./recover/reclaim.ts"
import { createRedactingLog, silentLog } from "./redaction/redacting-log.ts"
import { createRedactor, type Redactor } from "./redaction/redactor.ts"
import { warn, type Chore, repeat } from "./worker/repeat.ts"
import { gateTool } from "./group/gate.ts"
import { createGroupUpkeep } from "./group/group-upkeep.ts"
import { questionTool } from "./ask/question-wait.ts"
import type { RunnerScope } from "./admit/scope.ts"
import { type EventsRequest, readTaskEvents } from "./service/task-events.ts"
import { countTasks, type TaskCounts, createTaskService } from "./service/task-service.ts"
import { createSessionCommands, type SessionCommands } from "./service/session-commands.ts"
import { type KeepingOptions, type ShutdownOptions, shutDown } from "./shutdown/shutdown.ts"
import type { WorkLeft } from "./shutdown/work-left.ts"
import { createSlots } from "./limits/slots.ts"
import { createSpool } from "./spool/spool.ts"
import { openSpoolHome, toHomeData } from "./worker/spool-home.ts"
import { createSweeper, sweepSpool } from "./recover/sweep.ts"
import { createToolSource } from "./tool/tool-source.ts"
import { takesTurnsOf } from "./turn/take-turns.ts"
import { createTurnTool, type TurnBody } from "./turn/turn-run.ts"
import { createWorker } from "./worker/worker.ts"
import { ENDS_WHEN_IDLE, TAKER, toWorkerIdentity } from "./worker/worker-identity.ts"
import { listWorkers } from "./worker/worker-list.ts"
import type { CancelScope, HasTools, OutputScope } from "./run/scope.ts"
import { expireWaits } from "./ask/answer-wait.ts"
import { stopLeftRuns } from "./stop/left-runs.ts"
import { applyRetention } from "./result/retention.ts"

export interface RunnerOptions {
  readonly engine: Engine
  readonly registry: Pick<Registry, "findTool" | "tools" | "toolHooks" | "onChange">
  /** Where output and process files live. All processes on one embedded store share this folder. */
  readonly spoolDirectory: string
  readonly background?: BackgroundConfigInput
  /** Measures durations. Records carry the engine's time. */
  readonly clock?: Clock
  readonly permission?: Permission
  readonly log?: Log
  readonly redactor?: Redactor
  readonly conversations?: ConversationsPort
  /** Continues a turn that was taken from the queue. Without it this runner leaves turns to other processes. */
  readonly continueTurn?: TurnBody
  /**
   * True, the default: takes all work that is queued or was left behind. False: takes none of it, and does only what
   * is asked of it here. Own: takes the work that was asked for here, or that belongs to sessions open here.
   */
  readonly takesWork?: boolean | "own"
  /** True for a process that ends by itself once it has nothing left to do: others do not count on it. Default false. */
  readonly endsWhenIdle?: boolean
  /** Kinds of queued tasks that are taken. Default: every kind. */
  readonly takesKinds?: readonly TaskKind[]
  readonly onTask?: WrittenTasks["onTask"]
  /** How many reports may follow from one another by the tasks that they start. Default: any number. */
  readonly maxHops?: number
  /** Called with the runner before it takes any work, so that the code that serves its tools and turns can know it. */
  readonly onCreated?: (runner: Runner) => void | Promise<void>
}

/** The commands over tasks, and figures about tasks and workers: the part of a runner that a runtime shows. */
export interface RunnerService extends TaskService, Pick<SessionCommands, "answer"> {
  /**
   * The events of a task after a sequence number, each once and in order, whichever process has the task. Ends behind the last
   * event of the last run, when the task is removed, and when the runtime is closed. A retry or a resume that comes after that
   * begins another run, whose events go on counting: read on from the last sequence number.
   */
  events(id: string, request?: EventsRequest, scope?: string): AsyncGenerator<TaskEvent, void>
  /** How many tasks of a workspace there are of each status, and how old its queue is. */
  counts(filter: CountFilter): Promise<TaskCounts>
  /** The live workers, here and elsewhere. */
  workers(): Promise<readonly WorkerView[]>
}

export interface Runner extends RunnerService, SessionCommands, AsyncDisposable {
  /** The commands of this runner without those that only conversations need. */
  readonly service: RunnerService
  /** True if queued turns of the session go on in this process. */
  takesTurns(session: SessionId): boolean
  /** Called after a session was opened: a runner that takes only its own work resumes what that session had left. */
  resumeOwnWork(): Promise<void>
  close(options: KeepingOptions): Promise<WorkLeft>
  close(options?: ShutdownOptions): Promise<void>
}

/** A runner works as soon as it is created: it takes over what was left behind, then what is queued. */
export async function createRunner(options: RunnerOptions): Promise<Runner> {
  const { engine, clock: ownClock = systemClock, takesWork = true, takesKinds = TASK_KINDS } = options
  const clock = createStoreClock(engine, ownClock)
  const config = toBackgroundConfig(options.background)
  const redactor = options.redactor ?? createRedactor({ environment: process.env })
  const log = options.log ? createRedactingLog(options.log, redactor) : silentLog
  const { store } = engine
  const { spoolDirectory: directory } = options
  const home = await openSpoolHome(engine, directory)
  const active = createActiveRuns()
  const worker = await createWorker({
    store,
    // This machine's own clock measures the age of its lease, because the machine may have been suspended.
    clock: ownClock,
    log,
    home,
    identity: { ...toWorkerIdentity(), ...toHomeData(home), ...toHabits(options) },
    leaseMs: config.leaseSeconds * 1_000,
    onLost: () => loseRuns({ active, clock, config }),
    onBack: () => void pump?.announce(),
  })
  const runtimeTools = [
    questionTool,
    gateTool,
    ...(options.continueTurn ? [createTurnTool(() => scope, options.continueTurn)] : []),
  ]
  const scope: RunnerScope = {
    engine,
    store,
    clock,
    log,
    config,
    redactor,
    worker,
    active,
    spool: createSpool({ directory, clock, redactor, owner: thisProcessIdentity(), outputs: engine.outputs }),
    slots: createSlots(config),
    tools: createToolSource(
      options.registry,
      () => void pump?.announce(),
      runtimeTools,
      createDurations({ store, clock }),
    ),
    written: createWrittenTasks(options.onTask),
    queue: createQueueIntake(
      {
        takesWork,
        takesKinds,
        runsTasks: config.maxConcurrentTasks > 0,
        hasTurnHandler: options.continueTurn !== undefined,
        openSessions: options.conversations?.open,
      },
      { nudge: () => pump?.nudge(), resumeOwnWork: () => resumeOwnWork(scope, reclaim) },
    ),
    admission: {
      permission: options.permission ?? allowAll,
      families: createFamilyLock(),
      maxHops: options.maxHops ?? Number.POSITIVE_INFINITY,
    },
    ports: {
      bindTasks: (run) => bindToRun(scope, run),
      conversations: options.conversations ?? {},
    },
  }
  const service = createTaskService(scope)
  let pump: Pump | undefined
  const reclaim: Reclaim = takesWork === false ? async () => {} : createReclaim(scope)
  const remoteStops = createRemoteStops(scope)
  const chores = [
    ...startChores(scope, reclaim, { sweeps: takesWork !== false }),
    createGroupUpkeep(scope, { looksAround: takesWork !== false }),
  ]
  let closing: Promise<WorkLeft> | undefined
  function close(shutdown: KeepingOptions): Promise<WorkLeft>
  function close(shutdown?: ShutdownOptions): Promise<void>
  function close(shutdown: ShutdownOptions = {}): Promise<WorkLeft | void> {
    return (closing ??= shutDown(scope, pump, chores, remoteStops, shutdown))
  }

  const sessionCommands = createSessionCommands(scope)
  const shown = toShownService(scope, service, sessionCommands)
  const runner: Runner = {
    ...shown,
    ...sessionCommands,
    service: shown,
    takesTurns: (session) => takesWork !== false && takesTurnsOf(scope, session),
    resumeOwnWork: () => scope.queue.resumeOwnWork(),
    close,
    [Symbol.asyncDispose]: () => runner.close(),
  }
  try {
    await options.onCreated?.(runner)
    if (takesWork !== false) pump = createPump(scope)
    await reclaim()
    if (takesWork === true) await sweepSpool(scope)
  } catch (error) {
    await close().catch((closingError: unknown) => warn(scope, closingError))
    throw error
  }
  await pump?.announce()
  return runner
}

function toHabits({ takesWork = true, endsWhenIdle = false }: RunnerOptions) {
  return { ...(takesWork === true && TAKER), ...(endsWhenIdle && ENDS_WHEN_IDLE) }
}

/** The commands over tasks that a runtime shows. */
function toShownService(scope: RunnerScope, service: TaskService, { answer }: SessionCommands): RunnerService {
  return {
    ...service,
    answer,
    events: (id, request, workspace) => readTaskEvents(scope, id, request, workspace),
    counts: (filter) => countTasks(scope, filter),
    workers: () => listWorkers(scope),
  }
}

const RETENTION_EVERY_MS = 60_000
const EXPIRY_EVERY_MS = 1_000
/** Seldom: only programs of an older version leave such runs. */
const LEFT_RUNS_EVERY_MS = 15_000
const SWEEP_EVERY_MS = 30_000
const RECLAIMS_PER_LEASE = 3

/** The chores of a runner for as long as it lives. */
function startChores(
  scope: OutputScope & CancelScope & HasTools,
  reclaim: () => Promise<void>,
  { sweeps }: { readonly sweeps: boolean },
): readonly Chore[] {
  const { leaseSeconds } = scope.config
  return [
    repeat(scope, EXPIRY_EVERY_MS, () => expireWaits(scope)),
    repeat(scope, (leaseSeconds * 1_000) / RECLAIMS_PER_LEASE, reclaim),
    repeat(scope, LEFT_RUNS_EVERY_MS, () => stopLeftRuns(scope)),
    repeat(scope, RETENTION_EVERY_MS, () => applyRetention(scope)),
    // Sweeps again later: other workers may still decide about runs at the start, and any of them may die in a removal.
    ...(sweeps ? [repeat(scope, SWEEP_EVERY_MS, createSweeper(scope))] : []),
  ]
}
