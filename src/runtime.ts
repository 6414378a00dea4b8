import type { Clock } from "./base/clock.ts"
import type { GcSection } from "./builtin/gc/gc-config.ts"
import type { GivenModel } from "./builtin/models/given-model.ts"
import type { ModelProvidersOptions } from "./builtin/models/model-providers.ts"
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
import type { PermissionPluginOptions } from "./builtin/permission/permission-plugin.ts"
import type { Permission } from "./runner/admit/permission.ts"
import type { BackgroundConfigInput } from "./runner/limits/background-config.ts"
import type { RunnerService } from "./runner/runner.ts"
import type { ShutdownOptions } from "./runner/shutdown/shutdown.ts"
import type { AgentConfigInput } from "./session/conversation/agent-config.ts"
import type { ModelCatalogue, ModelOverrides } from "./session/model/catalogue.ts"
import type { LedgerRecord } from "./session/log/ledger-record.ts"
import type { TokenLedger } from "./session/ledger/ledger.ts"
import type { ReportsConfigInput } from "./session/conversation/report-config.ts"
import type { Session, SessionOptions } from "./session/conversation/session.ts"
import type { Engine } from "./task/engine.ts"
import type { SessionId, WorkspaceId } from "./task/id.ts"
import type { TaskKind } from "./task/record.ts"

/** A policy, or your own judge. */
export type PermissionsInput = NonNullable<PermissionPluginOptions["policy"]> | Permission

export interface RuntimeOptions {
  /**
   * Where the store and the output of tasks live. Created when missing. Without it they live in a temporary folder that
   * goes with the runtime, and sessions are kept in memory.
   */
  readonly dataDirectory?: string
  /**
   * Instead of a store in the data folder, where only files of what runs here live then: one that is open, or the URL
   * of one on PostgreSQL. Sessions are kept in it. Closed with the runtime.
   */
  readonly engine?: Engine | string
  /**
   * `provider/name`, or a model as an object, of the AI SDK too. Default: of the first provider with a key, else
   * offline.
   */
  readonly model?: string | GivenModel
  readonly plugins?: readonly Plugin[]
  /** Plugins by package name or path, and what loads them. One that cannot be used is skipped. */
  readonly discovery?: { readonly entries: readonly DiscoveryEntry[]; readonly load: LoadPlugin }
  readonly agent?: AgentConfigInput
  readonly background?: BackgroundConfigInput
  readonly gc?: Partial<GcSection>
  /** True if agents report the results of their background tasks unasked. Default: they do not, until enabled. */
  readonly reports?: ReportsConfigInput
  /** By provider. */
  readonly providers?: NonNullable<ModelProvidersOptions["providers"]>
  /** Facts about models that the catalogue lacks, or that override it. */
  readonly models?: ModelOverrides
  /** Where keys are looked for. Default: the process's own. */
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
   * Default true: what is queued or was left behind is taken up. False: only to look, and no turn goes on here. Own,
   * for programs that do one thing and end: others' work is left alone, and only what is asked for here, or belongs to
   * a session that is open here, is taken up.
   */
  readonly takesWork?: boolean | "own"
  /** The kinds of queued tasks that this process runs. Default: all. */
  readonly takesKinds?: readonly TaskKind[]
  /** Keeps conversations beyond the store, and describes them. */
  readonly sessionPlugin?: (directory: SessionDirectory) => SessionPlugin
  readonly sessionConfig?: unknown
  /** Hears what `on` hears, from before any turn of an earlier process goes on. */
  readonly onEvent?: AgentListener
  readonly ledger?: TokenLedger
  readonly log?: Log
  /**
   * For those who own the time. What is kept goes by it only in a store that is opened here: one that is open has its
   * own.
   */
  readonly clock?: Clock
  /** How a store on PostgreSQL is waited for, and who is told. */
  readonly storeWait?: StoreWait
}

export type StoreWait = Pick<
  PostgresEngineOptions,
  "startPatienceMs" | "patienceMs" | "leaving" | "onGone" | "onAway" | "tell"
>

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
  readonly sessions: SessionDirectory
  createSession(options?: SessionOptions): Promise<Session>
  openSession(id: SessionId, workspace?: WorkspaceId): Promise<Session>
  /** The desk of one actor in one workspace: the base of every front end. */
  desk(options: DeskOptions): Desk
  /** Refused as `unknown_model` or `key_missing`. */
  connect(model: string): Promise<ConnectedModel>
  /** Hears the events of every agent, subagents included. */
  on(listener: AgentListener): () => void
  /** Asks here from now on. Returns what detaches it again, also the one that the runtime was created with. */
  attach(person: PersonChannel): () => void
  close(options?: ShutdownOptions): Promise<void>
}
