import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock, createStoreClock } from "./base/clock.ts"
import { MeanwhileError } from "./base/error.ts"
import { gcConfigSchema } from "./builtin/gc/gc-config.ts"
import { createGcPlugin } from "./builtin/gc/gc-plugin.ts"
import { makeDataFolder } from "./config/make-folder.ts"
import { toShownUrl } from "./config/engine-url.ts"
import { createDesk } from "./desk/desk.ts"
import { createEmbeddedEngine, type EmbeddedEngineOptions } from "./engine/embedded/engine.ts"
import { IN_MEMORY } from "./engine/embedded/open.ts"
import { createPostgresEngine } from "./engine/postgres/engine.ts"
import { createPermission } from "./permission.ts"
import { toOwnPlugins } from "./plugin/own-tools.ts"
import { createRegistry } from "./plugin/registry.ts"
import { toBackgroundConfig } from "./runner/limits/background-config.ts"
import { createRedactor } from "./runner/redaction/redactor.ts"
import type { ConversationsPort } from "./runner/run/run-ports.ts"
import { createSteadyStore } from "./runner/commit/steady-store.ts"
import { createRunner, type Runner } from "./runner/runner.ts"
import { loadTracing } from "./runner/run/trace.ts"
import { silentLog } from "./runner/redaction/redacting-log.ts"
import { isNeighbourAlive, isWorkerAlive, toWorkerIdentity } from "./runner/worker/worker-identity.ts"
import { toAgentConfig } from "./session/conversation/agent-config.ts"
import { createModelCatalogue } from "./session/model/catalogue.ts"
import { type Conversations, createConversations } from "./session/conversations.ts"
import { createTokenLedger } from "./session/ledger/ledger.ts"
import { createLedgerRecord, type LedgerRecord } from "./session/log/ledger-record.ts"
import { createPersonSwitch } from "./session/person-switch.ts"
import { toReportsConfig } from "./session/conversation/report-config.ts"
import type { SessionOptions as ConversationOptions } from "./session/conversation/session.ts"
import type { SessionDefaults } from "./session/conversation/scope.ts"
import type { Engine } from "./task/engine.ts"
import { toGivenWorkspace } from "./task/given-id.ts"
import {
  createClose,
  createLeaving,
  findHeldUp,
  refuseMisspelled,
  type Runtime,
  type RuntimeOptions,
  type SessionOptions,
  type StoreWait,
} from "./runtime.ts"
import { connectGiven, withGiven } from "./builtin/models/given-model.ts"
import { createModelProviders, toPatience } from "./builtin/models/model-providers.ts"
import { createOfflineProvider, OFFLINE_MODEL } from "./builtin/offline/offline-provider.ts"
import { toSessionConfig } from "./builtin/session/session-config.ts"
import type { ModelProviderPlugin } from "./plugin/model-provider-plugin.ts"
import { DEFAULT_MODELS } from "./session/model/catalogue-table.ts"

export { findStoreId } from "./engine/embedded/open.ts"
export { createRedactor } from "./runner/redaction/redactor.ts"
export { readDataFolderId } from "./runner/worker/data-folder-id.ts"
export type { Runtime, RuntimeOptions } from "./runtime.ts"

export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return (await openRuntime(options)).runtime
}

/**
 * The one place that picks engine, plugins and clock. If opening fails, everything opened so far is closed again. The
 * runner is no part of the runtime: it is for code of this package that works below tasks. `onStoreOpened`: for the store of
 * a data folder.
 */
export async function openRuntime(
  options: RuntimeOptions,
  onStoreOpened?: OnStoreOpened,
): Promise<{ readonly runtime: Runtime; readonly runner: Runner }> {
  const { log = silentLog, environment = process.env, ledger = createTokenLedger(), onEvent } = options
  // Before anything is opened: a configuration that is not valid leaves nothing behind.
  refuseMisspelled(options)
  const background = toBackgroundConfig(options.background)
  const agent = toAgentConfig(options.agent)
  const reports = toReportsConfig(options.reports)
  const defaults = toSessionDefaults(options)
  const retentionMs = toRetentionMs(options)
  const ownTools = toOwnPlugins(options.tools)
  const { providers, model } = pickModels(options, environment, agent.model)
  const redactor = createRedactor({ environment })
  const person = createPersonSwitch()
  if (options.person) person.attach(options.person)
  await loadTracing()
  await using opened = new AsyncDisposableStack()
  if (options.dataDirectory !== undefined) makeDataFolder(options.dataDirectory)
  const dataDirectory = options.dataDirectory ?? (await openTemporaryFolder(opened))
  const storePath = options.dataDirectory === undefined ? IN_MEMORY : join(dataDirectory, STORE_FILE)
  const leaving = createLeaving(options.storeWait)
  const chosen = opened.use(await openEngine({ ...options, storeWait: leaving.storeWait }, storePath, onStoreOpened))
  const clock = createStoreClock(chosen, options.clock)
  const steady = { clock, leaving: leaving.storeWait.leaving }
  const engine = { ...chosen, store: createSteadyStore(chosen.store, steady) }
  let runner: Runner | undefined
  const plugins = opened.use(createRegistry({ model, clock, log, tasks: () => runner }))
  const permission = createPermission(options.permissions, { plugins, person, redactor })
  const own = permission.plugin ? [permission.plugin] : []
  for (const plugin of [...own, ...(options.plugins ?? []), ...ownTools, ...providers]) await plugins.register(plugin)
  if (options.discovery) await plugins.discover(options.discovery.entries, options.discovery.load)
  const catalogue = createModelCatalogue(options.models)
  let conversations!: Conversations
  const tasks = await createRunner({
    engine,
    redactor,
    background,
    permission,
    registry: plugins,
    spoolDirectory: join(dataDirectory, "spool"),
    ...toWorkOptions(options),
    onTask: (task, sinceSequence) => conversations.follow(task, sinceSequence),
    maxHops: reports.maxHops,
    continueTurn: (run) => conversations.continueTurn(run),
    conversations: toConversationsPort(() => conversations),
    async onCreated(created) {
      runner = created
      const shared = { clock, log, redactor, ledger, catalogue, person, defaults }
      const { store, bus } = engine
      conversations = createConversations({
        ...shared,
        config: { agent, background, reports },
        runner: created,
        store,
        bus,
        onChild: permission.onChild,
        heldUp: (workspace) => findHeldUp(runtime, workspace),
        onClosed: permission.onClosed,
        registry: plugins,
        defaultModel: model,
        retentionMs,
      })
      if (onEvent) conversations.on((event) => onEvent(event))
      if (!options.sessionPlugin) return
      defaults.sessionPlugin = options.sessionPlugin(conversations.directory())
      await plugins.register(defaults.sessionPlugin, { config: options.sessionConfig })
    },
  })
  const close = createClose(options, { conversations, tasks, leaving, opened: opened.move() })
  const runtime: Runtime = {
    tasks: tasks.service,
    plugins,
    engine: chosen,
    ledger,
    ...createLedgerRecord(engine.store),
    catalogue,
    model,
    sessions: { ...conversations.directory(), in: (workspace) => conversations.directory(toGivenWorkspace(workspace)) },
    createSession: async (wanted) => conversations.createSession(toOwnParts(options, wanted)),
    openSession: async (id, workspace, own) => conversations.openSession(id, workspace, toOwnParts(options, own)),
    desk: (owner) =>
      createDesk(owner, {
        tasks,
        promote: (session) => conversations.promote(session),
        onAgentEvent: (listener) => conversations.on(listener),
        directory: (workspace) => conversations.directory(workspace),
        clock,
        closing: leaving.drained,
        ...toStoreParts(options, engine, dataDirectory),
        runsTasks: background.maxConcurrentTasks > 0,
      }),
    connect: (id) => conversations.models.connect(id),
    on: (listener) => conversations.on((event) => listener(event)),
    attach: (channel) => person.attach(channel),
    close,
    [Symbol.asyncDispose]: () => runtime.close(),
  }
  return { runtime, runner: tasks }
}

/** Models that are objects of the AI SDK become ours. */
function toOwnParts(
  { providers = {}, clock }: RuntimeOptions,
  { model, ...options }: SessionOptions = {},
): ConversationOptions {
  if (model === undefined) return options
  return { ...options, model: typeof model === "string" ? model : connectGiven(model, toPatience(providers, clock)) }
}

/** The runner is created before the conversations that it asks. */
function toConversationsPort(conversations: () => Conversations): ConversationsPort {
  return {
    portsOf: (run) => conversations().portsOf(run),
    get agents() {
      return conversations().agents
    },
    open: () => conversations().open(),
    workspaceOf: (session) => conversations().workspaceOf(session),
  }
}

function toWorkOptions({ clock, log, takesWork, takesKinds, endsWhenIdle }: RuntimeOptions) {
  return {
    ...(clock && { clock }),
    ...(log && { log }),
    ...(takesWork !== undefined && { takesWork }),
    ...(takesKinds && { takesKinds }),
    ...(endsWhenIdle && { endsWhenIdle }),
  }
}

function toStoreParts({ engine: chosen }: RuntimeOptions, engine: Engine, dataDirectory: string) {
  const storePlace = typeof chosen === "string" ? toShownUrl(chosen) : dataDirectory
  const { store, bus } = engine
  return { store, bus, isShared: engine.name !== "embedded", dataDirectory, storePlace }
}

/** Opens the ledger alone: no plugin is loaded, and no task runs here. Refused as `not_found` if nothing was kept. */
export async function openLedger(
  dataDirectory: string,
  { engine: url, storeWait = {} }: { readonly engine?: string; readonly storeWait?: StoreWait } = {},
  onStoreOpened?: OnStoreOpened,
): Promise<LedgerRecord & AsyncDisposable> {
  if (url === undefined && !existsSync(join(dataDirectory, STORE_FILE))) {
    const message = `Nothing was kept in ${dataDirectory} yet. Start a conversation, or name another folder: --data-dir FOLDER`
    throw new MeanwhileError("not_found", message)
  }
  const options = url === undefined ? {} : { engine: url, storeWait }
  const engine = await openEngine(options, join(dataDirectory, STORE_FILE), onStoreOpened)
  return { ...createLedgerRecord(engine.store), [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() }
}

export const STORE_FILE = "store.sqlite"

/** As `onOpened` of the embedded engine. */
export type OnStoreOpened = NonNullable<EmbeddedEngineOptions["onOpened"]>

async function openEngine(options: RuntimeOptions, path: string, onOpened?: OnStoreOpened): Promise<Engine> {
  if (typeof options.engine === "string") return openServer(options.engine, options)
  if (options.engine) return options.engine
  return openStoreFile(path, options, onOpened)
}

/** Opens the file as one of the processes that may have it open. */
export function openStoreFile(
  path: string,
  {
    synchronous = "full",
    clock = systemClock,
    storeWait = {},
  }: Pick<RuntimeOptions, "synchronous" | "clock" | "storeWait"> = {},
  onOpened?: OnStoreOpened,
): Promise<Engine> {
  const shared = { path, synchronous, clock, isHolderAlive: isWorkerAlive, holder: toWorkerIdentity() }
  return createEmbeddedEngine({ ...storeWait, ...shared, ...(onOpened && { onOpened }) })
}

/** Opens a store that goes by the server's clock, unless the caller gives a clock. */
function openServer(url: string, { clock, log, storeWait }: RuntimeOptions): Promise<Engine> {
  return createPostgresEngine({
    ...storeWait,
    url,
    isHolderAlive: isNeighbourAlive,
    ...(clock && { clock }),
    ...(log && { log }),
  })
}

async function openTemporaryFolder(opened: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "meanwhile-"))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function toSessionDefaults({ gc = {}, dataDirectory, engine }: RuntimeOptions): SessionDefaults {
  const config = gcConfigSchema().parse(gc)
  const plugin = createGcPlugin(config)
  const isKept = dataDirectory !== undefined || engine !== undefined
  return { gc: plugin && { plugin, config }, sessionPlugin: null, isKept }
}

/** Programs that look, or do one thing, delete nothing. */
function toRetentionMs({ sessions, takesWork = true }: RuntimeOptions): number | null {
  const { retentionSeconds } = toSessionConfig(sessions)
  return takesWork === true && retentionSeconds !== null ? retentionSeconds * 1_000 : null
}

/** Every known provider, and the model of sessions that name none. A model given as an object is its own provider. */
export function pickModels(
  options: Pick<RuntimeOptions, "model" | "providers" | "plugins" | "clock">,
  environment: NonNullable<RuntimeOptions["environment"]>,
  configured: string | null,
): { readonly providers: readonly ModelProviderPlugin[]; readonly model: string } {
  const { providers: settings = {}, plugins = [], clock } = options
  const { model } = options
  const given =
    model === undefined || typeof model === "string" ? undefined : connectGiven(model, toPatience(settings, clock))
  const known = [
    ...createModelProviders({ environment, providers: settings, ...(clock && { clock }) }),
    createOfflineProvider(clock ? { clock } : {}),
  ]
  const names = new Set(plugins.map(({ name }) => name))
  const free = known.filter(({ name }) => !names.has(name))
  const providers = given ? withGiven(given, free, names) : free
  const wanted = given?.id ?? (typeof model === "string" ? model : configured)
  const hasKey = (name: string): boolean => providers.some((one) => one.name === name && one.isConfigured?.())
  const [, byKey = OFFLINE_MODEL] = Object.entries(DEFAULT_MODELS).find(([name]) => hasKey(name)) ?? []
  return { providers, model: wanted ?? byKey }
}
