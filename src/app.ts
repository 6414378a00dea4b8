import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Clock, systemClock } from "./base/clock.ts"
import { closeAll } from "./base/close-all.ts"
import { MeanwhileError } from "./base/error.ts"
import { type GcSection, gcConfigSchema } from "./builtin/gc/gc-config.ts"
import { createGcPlugin } from "./builtin/gc/gc-plugin.ts"
import { createGivenProvider, type GivenModel } from "./builtin/models/given-model.ts"
import { createModelProviders, type ModelProvidersOptions } from "./builtin/models/model-providers.ts"
import { createOfflineProvider, OFFLINE_MODEL } from "./builtin/offline/offline-provider.ts"
import { createEmbeddedEngine } from "./engine/embedded/engine.ts"
import type { AgentListener } from "./plugin/agent-event.ts"
import type { Log } from "./plugin/context.ts"
import type { DiscoveryEntry, LoadPlugin } from "./plugin/discovery.ts"
import type { PersonChannel } from "./plugin/person-port.ts"
import type { ConnectedModel } from "./plugin/model.ts"
import type { ModelProviderPlugin } from "./plugin/model-provider-plugin.ts"
import type { Plugin } from "./plugin/plugin.ts"
import { createPermission, type PermissionsInput } from "./permission.ts"
import { createRegistry, type Registry } from "./plugin/registry.ts"
import type { SessionPlugin } from "./plugin/session-plugin.ts"
import type { SessionDirectory } from "./plugin/sessions-port.ts"
import { type BackgroundConfigInput, toBackgroundConfig } from "./runner/config.ts"
import { createRedactor } from "./runner/redaction/redactor.ts"
import { createRunner, type Runner } from "./runner/runner.ts"
import { silentLog } from "./runner/silent-log.ts"
import type { ShutdownOptions } from "./runner/worker/shutdown.ts"
import { isWorkerAlive, toWorkerIdentity } from "./runner/worker/worker-identity.ts"
import { type AgentConfigInput, toAgentConfig } from "./session/agent-config.ts"
import { createModelCatalogue, type ModelCatalogue, type ModelOverrides } from "./session/catalogue.ts"
import { type Client, createClientOf } from "./session/client.ts"
import { type Conversations, createConversations } from "./session/conversations.ts"
import { pickDefaultModel } from "./session/default-model.ts"
import { createTokenLedger, type TokenLedger } from "./session/ledger.ts"
import { createLedgerRecord, type LedgerRecord } from "./session/ledger-record.ts"
import { createPersonSwitch } from "./session/person-switch.ts"
import type { SessionDefaults } from "./session/scope.ts"
import type { Session, SessionOptions } from "./session/session.ts"
import type { Engine } from "./task/engine.ts"
import type { SessionId, WorkspaceId } from "./task/id.ts"

export interface RuntimeOptions {
  /**
   * Where the store and the output of tasks live. Created when missing. Without it they live in a temporary folder that
   * goes with the runtime, and sessions are kept in memory.
   */
  readonly dataDirectory?: string
  /** Instead of a store in the data folder. Closed with the runtime. */
  readonly engine?: Engine
  /** `provider/name`, or a model as an object, of the AI SDK too. Default: of the first provider with a key, else offline. */
  readonly model?: string | GivenModel
  readonly plugins?: readonly Plugin[]
  /** Plugins by package name or path, and what loads them. One that cannot be used is skipped. */
  readonly discovery?: { readonly entries: readonly DiscoveryEntry[]; readonly load: LoadPlugin }
  readonly agent?: AgentConfigInput
  readonly background?: BackgroundConfigInput
  readonly gc?: Partial<GcSection>
  /** By provider. */
  readonly providers?: NonNullable<ModelProvidersOptions["providers"]>
  /** What is true of models that the catalogue does not know, or knows otherwise. */
  readonly models?: ModelOverrides
  /** Where keys are looked for. Default: the process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** `normal` is faster and may lose the last moments when the machine, not the process, dies. */
  readonly synchronous?: "full" | "normal"
  /**
   * What agents may do, as a policy or as your own judge. Default: what has an effect beyond telling something is asked.
   * Calls that belong to no session are your own code's: the default lets them pass.
   */
  readonly permissions?: PermissionsInput
  /** Who is asked for approvals and answers, until another is attached. */
  readonly person?: PersonChannel
  /** Default true. Without it, only to look: nothing queued or left behind is taken up, and no turn goes on here. */
  readonly takesWork?: boolean
  /** Keeps conversations beyond the store, and describes them. */
  readonly sessionPlugin?: (directory: SessionDirectory) => SessionPlugin
  readonly sessionConfig?: unknown
  /** Hears what `on` hears, from before any turn of an earlier process goes on. */
  readonly onEvent?: AgentListener
  readonly ledger?: TokenLedger
  readonly log?: Log
  readonly clock?: Clock
}

/** The shared environment of agents: plugins, models, permission, ledger, tasks and store. Sessions are cheap beside it. */
export interface Runtime extends LedgerRecord, AsyncDisposable {
  readonly tasks: Runner
  readonly plugins: Registry
  readonly engine: Engine
  readonly ledger: TokenLedger
  readonly catalogue: ModelCatalogue
  /** Of sessions that name none. */
  readonly model: string
  readonly sessions: SessionDirectory
  createSession(options?: SessionOptions): Promise<Session>
  openSession(id: SessionId, workspace?: WorkspaceId): Promise<Session>
  /** Refused as `unknown_model` or `key_missing`. */
  connect(model: string): Promise<ConnectedModel>
  /** What happens in every agent, subagents included. */
  on(listener: AgentListener): () => void
  /** Asks here from now on. Returns what detaches it again. */
  attach(person: PersonChannel): () => void
  close(options?: ShutdownOptions): Promise<void>
}

/** The one place that picks engine, plugins and clock. What was opened before a failure is closed again. */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  const { clock = systemClock, log = silentLog, environment = process.env, ledger = createTokenLedger() } = options
  // Before anything is opened: a configuration that is not valid leaves nothing behind.
  const background = toBackgroundConfig(options.background)
  const config = toAgentConfig(options.agent)
  const defaults = toSessionDefaults(gcConfigSchema.parse(options.gc ?? {}))
  const { providers, model } = pickModels(options, environment, config.model)
  const redactor = createRedactor({ environment })
  const person = createPersonSwitch()
  if (options.person) person.attach(options.person)
  await using opened = new AsyncDisposableStack()
  const dataDirectory = options.dataDirectory ?? (await openTemporaryFolder(opened))
  const engine = opened.use(await openEngine(options, dataDirectory, clock))
  const plugins = opened.use(createRegistry({ model }))
  const permission = createPermission(options.permissions, { plugins, person, redactor })
  const own = permission.plugin ? [permission.plugin] : []
  for (const plugin of [...own, ...(options.plugins ?? []), ...providers]) await plugins.register(plugin)
  if (options.discovery) await plugins.discover(options.discovery.entries, options.discovery.load)
  const catalogue = createModelCatalogue(options.models)
  let conversations!: Conversations
  const tasks = await createRunner({
    engine,
    clock,
    redactor,
    background,
    permission,
    registry: plugins,
    spoolDirectory: join(dataDirectory, "spool"),
    ...(options.log && { log: options.log }),
    ...(options.takesWork !== undefined && { takesWork: options.takesWork }),
    takeTurn: (run) => conversations.takeTurn(run),
    conversations: (run) => conversations.portsOf(run),
    async onCreated(runner) {
      const shared = { clock, log, redactor, config, background, ledger, catalogue, person, defaults }
      const isKept = options.dataDirectory !== undefined
      const { store, bus } = engine
      conversations = createConversations({
        ...shared,
        runner,
        store,
        bus,
        onChild: permission.onChild,
        registry: plugins,
        isKept,
        defaultModel: () => model,
      })
      if (options.onEvent) conversations.on(options.onEvent)
      if (!options.sessionPlugin) return
      defaults.sessionPlugin = options.sessionPlugin(conversations.directory())
      await plugins.register(defaults.sessionPlugin, { config: options.sessionConfig })
    },
  })
  const kept = opened.move()
  const close = (shutdown?: ShutdownOptions): Promise<void> => {
    // Both at once: from here on no new work is taken.
    const closing = Promise.allSettled([conversations.close(), tasks.close(shutdown)])
    return closeAll([() => closing.then(requireSettled), () => kept.disposeAsync()])
  }
  return {
    tasks,
    plugins,
    engine,
    ledger,
    ...createLedgerRecord(engine.store),
    catalogue,
    model,
    sessions: conversations.directory(),
    createSession: (wanted) => conversations.createSession(wanted),
    openSession: (id, workspace) => conversations.openSession(id, workspace),
    connect: (id) => conversations.models.connect(id),
    on: (listener) => conversations.on(listener),
    attach: (channel) => person.attach(channel),
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}

function requireSettled(settled: readonly PromiseSettledResult<unknown>[]): void {
  for (const one of settled) if (one.status === "rejected") throw one.reason
}

/** The facade for the simple case. */
export function createClient(): Client<Runtime, RuntimeOptions> {
  return createClientOf<Runtime, RuntimeOptions>(createRuntime)
}

/** Only what was used: no plugin is loaded, and no task runs here. Refused as `not_found` where nothing was kept. */
export async function openLedger(dataDirectory: string): Promise<LedgerRecord & AsyncDisposable> {
  if (!existsSync(join(dataDirectory, STORE_FILE))) {
    const message = `Nothing was kept in ${dataDirectory} yet. Start a conversation, or name another folder: --data-dir FOLDER`
    throw new MeanwhileError("not_found", message)
  }
  const engine = await openEngine({}, dataDirectory, systemClock)
  return { ...createLedgerRecord(engine.store), [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() }
}

const STORE_FILE = "store.sqlite"

async function openEngine(options: RuntimeOptions, dataDirectory: string, clock: Clock): Promise<Engine> {
  if (options.engine) return options.engine
  const { synchronous = "full" } = options
  const path = join(dataDirectory, STORE_FILE)
  return createEmbeddedEngine({ path, synchronous, clock, isHolderAlive: isWorkerAlive, holder: toWorkerIdentity() })
}

async function openTemporaryFolder(opened: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "meanwhile-"))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** All providers are there by name; a model given as an object stands for its own. */
function pickModels(
  options: RuntimeOptions,
  environment: NonNullable<RuntimeOptions["environment"]>,
  configured: string | null,
): { readonly providers: readonly ModelProviderPlugin[]; readonly model: string } {
  const { providers: settings = {}, plugins = [], clock } = options
  const given = typeof options.model === "object" ? createGivenProvider(options.model) : undefined
  const known = [
    ...createModelProviders({ environment, providers: settings }),
    createOfflineProvider(clock ? { clock } : {}),
  ]
  const names = new Set(plugins.map(({ name }) => name))
  const own = given && !names.has(given.provider.name) ? [given.provider] : []
  const providers = [...own, ...known.filter(({ name }) => name !== given?.provider.name && !names.has(name))]
  const wanted = given?.id ?? (typeof options.model === "string" ? options.model : configured)
  return { providers, model: wanted ?? pickDefaultModel(providers, OFFLINE_MODEL) }
}

function toSessionDefaults(gc: GcSection): { gc: SessionDefaults["gc"]; sessionPlugin: SessionPlugin | null } {
  const plugin = createGcPlugin(gc)
  return { gc: plugin && { plugin, config: gc }, sessionPlugin: null }
}
