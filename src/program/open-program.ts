import { join } from "node:path"
import { openRuntime, type Runtime, type RuntimeOptions } from "../app.ts"
import type { Variables } from "../base/environment.ts"
import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import { toOneLine } from "../base/one-line.ts"
import type { McpConfig } from "../builtin/mcp/mcp-config.ts"
import { createMcpPlugin, type McpPlugin } from "../builtin/mcp/mcp-plugin.ts"
import { readMcpConfig } from "../builtin/mcp/read-mcp-config.ts"
import type { ServerStatus } from "../builtin/mcp/server-link.ts"
import { toShownUrl } from "../config/engine-url.ts"
import { MCP_FILE } from "../config/folder-contents.ts"
import { loadConfig } from "../config/load-config.ts"
import { createPluginLoader } from "../config/plugin-loader.ts"
import { CONFIG_SPELLINGS, configSections, type ProgramConfig, toTakenKinds } from "../config-sections.ts"
import { type DataFolderOptions, openDataFolder } from "./data-folder.ts"
import { findStorageProblem, hasWork } from "./host.ts"
import { type FolderOptions, openFolder, type ProgramFolder } from "./folder.ts"
import { type Instructions, openInstructions } from "./instruction-files.ts"
import { createProgramPlugins, createSessionPlugin } from "./plugins.ts"
import { describeUnknownTools } from "./unknown-tools.ts"

/** After this time the program says that it waits for servers. */
const PATIENCE_MS = 1_000

/** The program waits for its store without a limit: its user sees that it waits, and can end it. */
const PATIENT = { patienceMs: Number.POSITIVE_INFINITY }

export type { TrustQuestion } from "./folder.ts"

/** The folder's options, and those that the opener of the program sets over the configuration. */
export interface ProgramOptions
  extends FolderOptions,
    Pick<DataFolderOptions, "confirmData">,
    Pick<
      RuntimeOptions,
      "model" | "person" | "log" | "clock" | "onEvent" | "takesWork" | "endsWhenIdle" | "storeWait"
    > {
  readonly dataDirectory: string
  /** Where commands run, and where a configuration is looked for. */
  readonly workingDirectory: string
  readonly environment: Variables
  /** The URL of a store on PostgreSQL. Default: what the environment or the configuration says. */
  readonly engine?: string
  /** Tasks that run at once. Default: what the configuration says. */
  readonly maxConcurrentTasks?: number
  /** Set for a worker, with its options. Without it the section `worker` of the configuration has no effect. */
  readonly worker?: Partial<ProgramConfig["worker"]>
  /** Default true. False leaves it to processes that have the conversation open to report what tasks came to. */
  readonly makesReports?: boolean
  /** Default false: MCP servers connect after the conversation has begun. True for programs that cannot use them later. */
  readonly waitsForServers?: boolean
}

/** A runtime for screens. They ask a desk for tasks and conversations, so the parts that lead past the desk are left out. */
export type ScreenRuntime = Omit<Runtime, "engine" | "tasks" | "sessions">

/** A runtime, with what only the program asks for. */
export interface Program extends ScreenRuntime {
  /** True if agents report the results of their tasks unasked. */
  readonly areReportsOn: boolean
  /** The place of the store, fit to be shown: without a password. */
  readonly storePlace: string
  readonly maxConcurrentTasks: number
  /** The fate of a chat's work when the chat is left. */
  readonly onExit: ProgramConfig["onExit"]
  /** The files of the folder whose instructions every agent has. */
  readonly instructionFiles: readonly string[]
  /** The section of the configuration, with the options over it. */
  readonly worker: ProgramConfig["worker"]
}

/** The runtime as the terminal program has it: with the built-in plugins, and with what a trusted folder adds. */
export async function openProgram(options: ProgramOptions): Promise<Program> {
  const { dataDirectory, workingDirectory, environment, notify, model, person, log, clock } = options
  const folder = await openFolder(options)
  const program = { sections: configSections(), spellings: CONFIG_SPELLINGS, defaults: toDefaults(options) }
  const request = { directory: workingDirectory, isTrusted: folder.trust === "trusted", environment }
  const { values: configured, plugins } = await loadConfig({ ...program, ...request })
  const values = withOptions(configured, options)
  const instructions = await openInstructions(options, folder, values.instructionFiles)
  if (options.worker) requireWork(values)
  // A store on a server is chosen by the person; the store of a data folder may have come with the folder.
  const data = values.engine === null ? await openDataFolder(options) : null
  if (data && data.refusal !== null) throw new MeanwhileError("permission_denied", data.refusal)
  const isEmpty = folder.trust === "empty" && instructions.names.length === 0
  const hasNothingToTrust = options.trust && isEmpty && !data?.isAgreedNow
  if (hasNothingToTrust) notify(`There is nothing in ${workingDirectory} to trust.`)
  const shared = { ...(log && { log }), ...(clock && { clock }) }
  let refreshMcp = () => {}
  const hasLeftWork = () => values.engine !== null || hasWork(dataDirectory, data?.onStoreOpened)
  const mcp = await createServers(options, folder, hasLeftWork, () => refreshMcp())
  const builtin = createProgramPlugins({ ...options, folder, config: values, mcp })
  using _waiting = mcp && setTimeout(() => notify("Waiting for the MCP servers…"), PATIENCE_MS)
  const runtimeOptions: RuntimeOptions = {
    ...shared,
    dataDirectory,
    environment,
    ...(model !== undefined && { model }),
    ...(person && { person }),
    ...(options.onEvent && { onEvent: options.onEvent }),
    ...(options.takesWork !== undefined && { takesWork: options.takesWork }),
    ...(options.endsWhenIdle && { endsWhenIdle: true }),
    ...(options.worker && { takesKinds: toTakenKinds(values.worker) }),
    ...(values.engine !== null && { engine: values.engine }),
    storeWait: { ...PATIENT, tell: notify, ...options.storeWait },
    agent: withInstructions(values.agent, instructions),
    background: values.background,
    reports: values.reports,
    gc: values.gc,
    permissions: values.permissions,
    providers: values.providers,
    models: values.models,
    sessionPlugin: (directory) => createSessionPlugin(values.session, { directory, workingDirectory }),
    sessionConfig: values.session,
    sessions: { retentionSeconds: values.session.retentionSeconds },
    plugins: [...builtin, ...plugins.plugins],
    discovery: { entries: plugins.entries, load: createPluginLoader({ directory: workingDirectory }) },
  }
  const { runtime } = await openRuntime(runtimeOptions, data?.onStoreOpened)
  refreshMcp = () => runtime.plugins.refreshTools("mcp")
  // A server may have come between the plugin's start and now.
  refreshMcp()
  for (const { message } of runtime.plugins.skipped()) notify(message)
  for (const text of describeUnknownTools(values.permissions.rules, runtime.plugins)) notify(text)
  const storageProblem = await findStorageProblem(values.session, workingDirectory, { makesFolder: false })
  if (storageProblem !== null) notify(storageProblem)
  const settled = mcp?.settled().then((servers) => reportUnreachable(servers, options))
  if (options.waitsForServers) await settled
  return Object.assign(runtime, {
    areReportsOn: values.reports.enabled,
    storePlace: values.engine === null ? dataDirectory : toShownUrl(values.engine),
    maxConcurrentTasks: values.background.maxConcurrentTasks,
    onExit: values.onExit,
    instructionFiles: instructions.names,
    worker: values.worker,
  })
}

function withInstructions(agent: ProgramConfig["agent"], { text }: Instructions): ProgramConfig["agent"] {
  return { ...agent, instructions: [agent.instructions, text].filter((part) => part !== "").join("\n\n") }
}

/** A limit that is asked for at the start also holds per session, unless the configuration has a limit for those. */
function toDefaults({ maxConcurrentTasks: most }: ProgramOptions) {
  if (most === undefined) return {}
  return { background: { maxConcurrentPerSession: Math.max(1, most) } }
}

/** Options of the start override the configuration. */
function withOptions(config: ProgramConfig, options: ProgramOptions): ProgramConfig {
  const { engine, maxConcurrentTasks, makesReports = true } = options
  return {
    ...config,
    engine: engine ?? config.engine,
    worker: { ...config.worker, ...options.worker },
    reports: { ...config.reports, enabled: config.reports.enabled && makesReports },
    ...(maxConcurrentTasks !== undefined && { background: { ...config.background, maxConcurrentTasks } }),
  }
}

/** A worker that takes nothing is none. */
function requireWork({ background }: ProgramConfig): void {
  if (background.maxConcurrentTasks > 0) return
  const message =
    "background.maxConcurrentTasks is 0: a worker would take nothing. Set it to 1 or more, or start with --concurrency N."
  throw new MeanwhileError("invalid_input", message)
}

/** Null if the folder names no server. */
async function createServers(
  options: ProgramOptions,
  folder: ProgramFolder,
  hasLeftWork: () => boolean | Promise<boolean>,
  onToolsChanged: () => void,
): Promise<McpPlugin | null> {
  const { workingDirectory, environment, log, clock } = options
  const config = await readServers(folder, options)
  if (Object.keys(config.mcpServers).length === 0) return null
  // The runner resumes interrupted work as soon as it is open, and that work may need a tool of these servers.
  const waitsForServers = await hasLeftWork()
  const shared = { ...(log && { log }), ...(clock && { clock }) }
  return createMcpPlugin({ ...shared, config, workingDirectory, environment, onToolsChanged, waitsForServers })
}

function reportUnreachable(servers: readonly ServerStatus[], { notify, waitsForServers }: ProgramOptions): void {
  // A program that waits for its servers has no prompt for commands.
  const hint = waitsForServers ? `. Check its entry in ${MCP_FILE}, or set "disabled": true` : ", see /mcp"
  for (const { name, state, lastError } of servers) {
    if (state !== "unreachable") continue
    notify(`MCP server ${name} is not reachable: ${toOneLine(lastError ?? "it does not answer")}${hint}`)
  }
}

const NO_SERVERS: McpConfig = { mcpServers: {} }

/** A mistake in `.mcp.json` costs the servers, not the conversation. */
async function readServers(
  { contents, trust }: ProgramFolder,
  { environment, notify }: ProgramOptions,
): Promise<McpConfig> {
  if (trust !== "trusted" || !contents.files.includes(MCP_FILE)) return NO_SERVERS
  try {
    return await readMcpConfig(join(contents.directory, MCP_FILE), environment)
  } catch (error) {
    notify(`No MCP server was started. ${toErrorMessage(error)}`)
    return NO_SERVERS
  }
}
