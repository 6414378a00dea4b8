import type { Conversations } from "./session/conversations.ts"
import { closeAll } from "./base/close-all.ts"
import { type Clock, systemClock } from "./base/clock.ts"
import { MeanwhileError } from "./base/error.ts"
import { findNearNames } from "./base/near-name.ts"
import type { GcSection } from "./builtin/gc/gc-config.ts"
import type { GivenModel } from "./builtin/models/given-model.ts"
import type { ModelProvidersOptions } from "./builtin/models/model-providers.ts"
import type { SessionConfigInput } from "./builtin/session/session-config.ts"
import type { Desk } from "./desk/desk.ts"
import type { DeskOptions } from "./desk/desk-options.ts"
import type { PostgresEngineOptions } from "./engine/postgres/engine-options.ts"
import type { AgentListener } from "./plugin/agent-event.ts"
import type { Log } from "./plugin/context.ts"
import type { DiscoveryEntry, LoadPlugin } from "./plugin/discovery.ts"
import type { ConnectedModel } from "./plugin/model.ts"
import type { PersonChannel } from "./plugin/person-port.ts"
import type { Plugin } from "./plugin/plugin.ts"
import type { Registry } from "./plugin/registry.ts"
import type { SessionPlugin } from "./plugin/session-plugin.ts"
import type { SessionDirectory } from "./plugin/sessions-port.ts"
import type { Tool } from "./plugin/tool.ts"
import type { PermissionPluginOptions } from "./builtin/permission/permission-plugin.ts"
import type { Permission } from "./runner/admit/permission.ts"
import type { BackgroundConfigInput } from "./runner/limits/background-config.ts"
import type { Runner, RunnerService } from "./runner/runner.ts"
import type { KeepingOptions, ShutdownOptions } from "./runner/shutdown/shutdown.ts"
import type { WorkLeft } from "./runner/shutdown/work-left.ts"
import type { AgentConfigInput } from "./session/conversation/agent-config.ts"
import type { ModelCatalogue, ModelOverrides } from "./session/model/catalogue.ts"
import type { LedgerRecord } from "./session/log/ledger-record.ts"
import type { TokenLedger } from "./session/ledger/ledger.ts"
import type { ReportsConfigInput } from "./session/conversation/report-config.ts"
import type { Session, SessionOptions as ConversationOptions } from "./session/conversation/session.ts"
import type { Engine } from "./task/engine.ts"
import type { TaskId } from "./task/id.ts"
import type { TaskKind } from "./task/record.ts"

/** A policy, or your own judge. */
export type PermissionsInput = NonNullable<PermissionPluginOptions["policy"]> | Permission

export interface RuntimeOptions {
  /**
   * Where the store and the output of tasks live. Created if missing. Without it they live in a temporary folder that is
   * removed with the runtime, and sessions are kept in memory.
   */
  readonly dataDirectory?: string
  /**
   * The store to use instead of one in the data folder: an open engine, or the URL of a store on PostgreSQL. Sessions are
   * kept in it, and the data folder holds only files of what runs here. Closed with the runtime.
   */
  readonly engine?: Engine | string
  /**
   * `provider/name`, or a model as an object, of the AI SDK too. Default: of the first provider with a key, else
   * offline.
   */
  readonly model?: string | GivenModel
  readonly plugins?: readonly Plugin[]
  /** Tools that need no plugin. In records and rules they belong to the plugin `tools`. */
  readonly tools?: readonly Tool[]
  /** Plugins by package name or path, and what loads them. One that cannot be used is skipped. */
  readonly discovery?: { readonly entries: readonly DiscoveryEntry[]; readonly load: LoadPlugin }
  readonly agent?: AgentConfigInput
  readonly background?: BackgroundConfigInput
  readonly gc?: Partial<GcSection>
  /** When agents report the results of their background tasks unasked. Default: not before reports are enabled. */
  readonly reports?: ReportsConfigInput
  /** Settings by provider. */
  readonly providers?: NonNullable<ModelProvidersOptions["providers"]>
  /** Facts about models that the catalogue lacks, or that override it. */
  readonly models?: ModelOverrides
  /** The environment in which API keys are looked for. Default: that of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** `normal` is faster and may lose the last moments when the machine, not the process, dies. */
  readonly synchronous?: "full" | "normal"
  /**
   * Decides which calls agents may make: a policy, or your own judge. Default: a call with an effect asks the person. Calls
   * that belong to no session are your own code's: the default lets them pass.
   */
  readonly permissions?: PermissionsInput
  /** The person who is asked for approvals and answers, until another channel is attached. */
  readonly person?: PersonChannel
  /**
   * Which work this process takes. Default true: work that is queued or was left behind. False, for programs that only
   * look: none, and no turn goes on here. `own`, for programs that do one thing and end: only work that is asked for here,
   * or that belongs to a session that is open here.
   */
  readonly takesWork?: boolean | "own"
  /**
   * True for a program that ends by itself once it has nothing left to do: programs that leave their work do not count on
   * it. Default false.
   */
  readonly endsWhenIdle?: boolean
  /** The kinds of queued tasks that this process runs. Default: all. */
  readonly takesKinds?: readonly TaskKind[]
  /** Keeps conversations beyond the store, and describes them. */
  readonly sessionPlugin?: (directory: SessionDirectory) => SessionPlugin
  readonly sessionConfig?: unknown
  /** After so long without use a conversation is deleted by a process that takes work. Default: never. */
  readonly sessions?: Pick<SessionConfigInput, "retentionSeconds">
  /** Called with every event, as a listener of `on`, from before any turn of an earlier process goes on. */
  readonly onEvent?: AgentListener
  readonly ledger?: TokenLedger
  readonly log?: Log
  /**
   * A clock for callers that own the time. Stored times go by it only if the runtime opens the store: an open engine has
   * its own clock.
   */
  readonly clock?: Clock
  /** How a store on PostgreSQL is waited for, and who is told. */
  readonly storeWait?: StoreWait
}

const OPTIONS = {
  dataDirectory: true,
  engine: true,
  model: true,
  plugins: true,
  tools: true,
  discovery: true,
  agent: true,
  background: true,
  gc: true,
  reports: true,
  providers: true,
  models: true,
  environment: true,
  synchronous: true,
  permissions: true,
  person: true,
  takesWork: true,
  endsWhenIdle: true,
  takesKinds: true,
  sessionPlugin: true,
  sessionConfig: true,
  sessions: true,
  onEvent: true,
  ledger: true,
  log: true,
  clock: true,
  storeWait: true,
} satisfies Record<keyof RuntimeOptions, true>

/**
 * Refuses a name that looks like an option and is none: a program in JavaScript whose `datadirectory` is passed over keeps
 * nothing. Other names are passed over: options may be spread from an object that has more.
 */
export function refuseMisspelled(options: RuntimeOptions): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(OPTIONS, name)) continue
    const near = findNearNames(name, Object.keys(OPTIONS))
    if (near.length === 0) continue
    const text = `createRuntime has no option ${JSON.stringify(name)}. Did you mean ${near.join(" or ")}?`
    throw new MeanwhileError("invalid_input", text, { option: name })
  }
}

export type StoreWait = Pick<
  PostgresEngineOptions,
  "startPatienceMs" | "patienceMs" | "leaving" | "onGone" | "onAway" | "tell"
>

/** The options of a new session. */
export interface SessionOptions extends Omit<ConversationOptions, "model"> {
  /**
   * `provider/name`, or a model as an object, of the AI SDK too, that is this session's own. Default: the runtime's. No store
   * keeps the object: who opens the session in another process gives it again.
   */
  readonly model?: string | GivenModel
}

/**
 * The shared environment of agents: plugins, models, permission, ledger, tasks and store. Sessions are cheap beside it.
 */
export interface Runtime extends LedgerRecord, AsyncDisposable {
  readonly tasks: RunnerService
  readonly plugins: Registry
  readonly engine: Engine
  readonly ledger: TokenLedger
  readonly catalogue: ModelCatalogue
  /** The model of sessions that name none. */
  readonly model: string
  /** The conversations of the default workspace; `in` names another one. */
  readonly sessions: SessionDirectory & { in(workspace: string): SessionDirectory }
  createSession(options?: SessionOptions): Promise<Session>
  /** `own`: what the session was given as objects, or other parts from now on. */
  openSession(id: string, workspace?: string, own?: Pick<SessionOptions, "model" | "tools">): Promise<Session>
  /** The desk of one actor in one workspace: the base of every front end. */
  desk(options: DeskOptions): Desk
  /** Refused as `unknown_model` or `key_missing`. */
  connect(model: string): Promise<ConnectedModel>
  /** Hears the events of every agent, subagents included. */
  on(listener: AgentListener): () => void
  /** Asks through this channel from now on. Returns a function that detaches it, even if the runtime was created with it. */
  attach(person: PersonChannel): () => void
  /**
   * Ends everything. By default running commands and tools are stopped; `work: "keep"` loses no more than a crash would,
   * is refused without a data folder, and resolves with the fate of what ran. It starts no other process: kept work goes on
   * with the next runtime, or worker, of the data folder.
   */
  close(options: KeepingOptions): Promise<WorkLeft>
  close(options?: ShutdownOptions): Promise<void>
}

interface Closing {
  readonly conversations: Conversations
  readonly tasks: Runner
  readonly leaving: Leaving
  /** The store and all else that was opened before them. */
  readonly opened: AsyncDisposableStack
}

/** The end of a runtime: of its runs and conversations, and of what was opened below them. */
export function createClose(
  options: RuntimeOptions,
  { conversations, tasks, leaving, opened }: Closing,
): Runtime["close"] {
  async function close(shutdown: KeepingOptions): Promise<WorkLeft>
  async function close(shutdown?: ShutdownOptions): Promise<void>
  async function close(shutdown?: ShutdownOptions): Promise<WorkLeft | void> {
    requireKnownWork(shutdown)
    const keepsWork = shutdown?.work === "keep"
    if (keepsWork) requireFolder(options)
    leaving.begin(shutdown)
    // Closes both at once, so that no new work is taken from here on.
    const left: Promise<WorkLeft | void> = tasks.close(shutdown)
    const closing = Promise.allSettled([conversations.close({ keepsWork }), left])
    await closeAll([() => closing.then(requireSettled), leaving.end, () => opened.disposeAsync()])
    return left
  }
  return close
}

/** A misspelled word would stop the work that it was to keep. */
function requireKnownWork(shutdown: unknown = {}): void {
  if (typeof shutdown === "object" && shutdown !== null) {
    const work: unknown = "work" in shutdown ? shutdown.work : undefined
    if (work === undefined || work === "keep" || work === "stop") return
  }
  throw new MeanwhileError("invalid_input", 'close takes { work: "keep" } or { work: "stop" }, and further options.')
}

export interface Leaving {
  readonly storeWait: StoreWait & { readonly leaving: AbortSignal }
  /** Aborts when the drain is over: until then people see, and can answer, what running tasks ask. */
  readonly drained: AbortSignal
  begin(options?: ShutdownOptions): void
  /** Called when nothing runs any more, perhaps before the time to drain is over. */
  end(): void
}

/** A shutdown lets work drain. After that, nothing waits for a server that is away. */
export function createLeaving({ leaving: wish, ...wait }: StoreWait = {}): Leaving {
  const left = new AbortController()
  const closed = new AbortController()
  const leave = (): void => left.abort()
  const leaving = wish ? AbortSignal.any([wish, left.signal]) : left.signal
  return {
    storeWait: { ...wait, leaving },
    drained: AbortSignal.any([left.signal, closed.signal]),
    begin({ drainMs = 0, signal } = {}) {
      systemClock.schedule(drainMs, leave, { isBackground: true })
      signal?.addEventListener("abort", leave, { once: true })
    },
    end: () => closed.abort(),
  }
}

function requireSettled(settled: readonly PromiseSettledResult<unknown>[]): void {
  for (const one of settled) if (one.status === "rejected") throw one.reason
}

/** Work in memory, or whose output lies in a temporary folder, cannot be kept. */
function requireFolder({ dataDirectory }: RuntimeOptions): void {
  if (dataDirectory !== undefined) return
  const message =
    'close({ work: "keep" }) needs a data folder, and this runtime has none: give createRuntime `dataDirectory`'
  throw new MeanwhileError("invalid_input", `${message}, or close it with work: "stop".`, { option: "work" })
}

/** The tasks that only a person's answer brings on. */
export async function findHeldUp(runtime: Pick<Runtime, "desk">, workspace: string): Promise<ReadonlySet<TaskId>> {
  return new Set((await runtime.desk({ workspace, actor: "settled" }).blocked.byQuestion()).keys())
}
