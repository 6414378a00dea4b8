import { statSync } from "node:fs"
import { join } from "node:path"
import type { Variables } from "../base/environment.ts"
import { MeanwhileError } from "../base/error.ts"
import { checkServers } from "../builtin/mcp/check-servers.ts"
import { readMcpConfig } from "../builtin/mcp/read-mcp-config.ts"
import { createModelProviders } from "../builtin/models/model-providers.ts"
import { type OnStoreOpened, pickModels } from "../app.ts"
import { MCP_FILE } from "../config/folder-contents.ts"
import { loadConfig } from "../config/load-config.ts"
import type { ConfiguredPlugins } from "../config/plugin-entry.ts"
import { createPluginLoader } from "../config/plugin-loader.ts"
import type { TrustStore } from "../config/trust-store.ts"
import { createPermissionPlugin } from "../builtin/permission/permission-plugin.ts"
import { createRegistry } from "../plugin/registry.ts"
import type { SessionDirectory } from "../plugin/sessions-port.ts"
import { DEFAULT_WORKSPACE } from "../task/id.ts"
import { CONFIG_SPELLINGS, configSections, type ProgramConfig } from "../config-sections.ts"
import { type Finding, findOr, ok, problem, warning } from "./finding.ts"
import { DISTRUST, type LookedAtDataFolder, lookAtDataFolder } from "./data-folder.ts"
import { describeDistrust, lookAtFolder, openTrustStore, type ProgramFolder } from "./folder.ts"
import { examineServer } from "./engine.ts"
import { examineEmbedded, examineHost, examineProject, findStorageProblem } from "./host.ts"
import { lookAtInstructions } from "./instruction-files.ts"
import { createProgramPlugins, createSessionPlugin } from "./plugins.ts"
import { describeUnknownTools } from "./unknown-tools.ts"

export type { Finding } from "./finding.ts"

export interface DoctorOptions {
  readonly workingDirectory: string
  /** Default: the person's own. */
  readonly homeDirectory?: string
  readonly trustStore?: TrustStore
  readonly dataDirectory: string
  /** The URL that was asked for. It goes before the configuration's. */
  readonly engine?: string
  readonly environment: Variables
  /** Called with a line about each step that takes long. */
  readonly tell?: (line: string) => void
  /** Default: the version of this process. */
  readonly nodeVersion?: string
}

/** Checks everything that a start would need. It takes over no task, and starts nothing that it does not end again. */
export async function examineProgram(options: DoctorOptions): Promise<readonly Finding[]> {
  const host = await examineHost(options.dataDirectory, options.nodeVersion ?? process.versions.node)
  const rest = await findOr("folder", "Fix it, then run the doctor again.", async () => {
    const folder = await lookAtFolder(options)
    // First: whoever opens the store takes in what somebody else may have put beside it.
    const data = await lookAtData(options)
    const config = await examineConfig(options, folder, data?.onStoreOpened)
    return [toTrustFinding(folder), ...toDataFindings(data), ...config, ...(await examineServers(options, folder))]
  })
  return [...host, ...(await examineProject(options.workingDirectory)), ...rest]
}

function toTrustFinding({ contents: { directory, files }, trust }: ProgramFolder): Finding {
  const fix = "Read them, then run: meanwhile trust"
  if (trust === "empty") return ok("trust", `nothing in ${directory} needs trust`)
  if (trust === "trusted") return ok("trust", `${directory} is trusted: ${files.join(", ")}`)
  const why = trust === "changed" ? "changed since you trusted it" : "is not trusted"
  return warning("trust", `${directory} ${why}; not loaded: ${files.join(", ")}`, fix)
}

/** Null without a data folder. */
async function lookAtData(options: DoctorOptions): Promise<LookedAtDataFolder | null> {
  if (!statSync(options.dataDirectory, { throwIfNoEntry: false })?.isDirectory()) return null
  return lookAtDataFolder({ ...options, notify: options.tell ?? (() => {}) })
}

function toDataFindings(data: LookedAtDataFolder | null): readonly Finding[] {
  if (data === null) return []
  const { trust, identity } = data
  if (trust === "new" || trust === "known") return [ok("data folder trust", `${identity.path} may run its work`)]
  const fix = "Look with meanwhile tasks, then start with --trust, or answer the question of a chat."
  return [warning("data folder trust", `${identity.path} ${DISTRUST[trust]}: nothing of it runs`, fix)]
}

async function examineConfig(
  options: DoctorOptions,
  folder: ProgramFolder,
  onStoreOpened?: OnStoreOpened,
): Promise<readonly Finding[]> {
  const { workingDirectory: directory, environment } = options
  return findOr("config", "Correct what it names, then run the doctor again.", async () => {
    const program = { sections: configSections(), spellings: CONFIG_SPELLINGS }
    const loaded = await loadConfig({ ...program, directory, isTrusted: folder.trust === "trusted", environment })
    const { values, plugins, status } = loaded
    const config = status === "loaded" ? ok("config", `${loaded.path} is valid`) : ok("config", "defaults")
    const engine = options.engine ?? values.engine
    const store =
      engine === null
        ? await examineEmbedded(options.dataDirectory, onStoreOpened)
        : await examineServer(engine, options.tell)
    const models = examineModels(values, environment)
    const loading = await examinePlugins(options, { folder, values, plugins, ...models })
    const storage = await examineStorage(values.session, directory)
    const instructions = await examineInstructions(options, folder, values)
    return [config, ...store, ...storage, ...instructions, ...models.findings, ...loading]
  })
}

async function examineInstructions(
  { homeDirectory, trustStore = openTrustStore(homeDirectory) }: DoctorOptions,
  folder: ProgramFolder,
  { instructionFiles }: ProgramConfig,
): Promise<readonly Finding[]> {
  const files = await lookAtInstructions(folder, instructionFiles, trustStore)
  return files.map((file) => {
    const check = "instructions"
    if ("problem" in file) return problem(check, `${file.name} is not read: ${file.problem}`, "Mend or remove it.")
    if (file.trust === "trusted") return ok(check, `agents read ${file.name}`)
    const fix = "Read it, then run: meanwhile trust"
    return warning(check, `agents do not read ${file.name}, because ${describeDistrust(file.trust)}`, fix)
  })
}

async function examineStorage(session: ProgramConfig["session"], directory: string): Promise<readonly Finding[]> {
  const text = await findStorageProblem(session, directory, { makesFolder: true })
  if (text === null) return []
  return [problem("conversations", text, "Then run the doctor again.")]
}

function examineModels({ agent, providers: settings }: ProgramConfig, environment: Variables) {
  const providers = createModelProviders({ environment, providers: settings })
  const configured = providers.filter((provider) => provider.isConfigured?.()).map(({ name }) => name)
  const fix = "Set a key, such as ANTHROPIC_API_KEY, or name a server in the section providers."
  const keys =
    configured.length > 0
      ? ok("keys", `found for ${configured.join(", ")}`)
      : warning("keys", "No API key found. Using the offline demo model.", fix)
  const { model } = pickModels({ providers: settings }, environment, agent.model)
  const [provider = ""] = model.split("/", 1)
  const isUsable = provider === "offline" || configured.includes(provider)
  const isKnown = providers.some(({ name }) => name === provider)
  const lacking = isKnown ? `there is no key for ${provider}` : `no provider here is named ${provider}`
  const finding = isUsable
    ? ok("model", model)
    : warning("model", `${model}, but ${lacking}`, "Set its key, add its plugin, or change agent.model.")
  return { model, findings: [keys, finding] }
}

interface PluginParts {
  readonly folder: ProgramFolder
  readonly values: ProgramConfig
  readonly plugins: ConfiguredPlugins
  readonly model: string
}

/** Registers all plugins as a start would, MCP servers left out, and closes them again. */
async function examinePlugins(
  options: DoctorOptions,
  { folder, values, plugins, model }: PluginParts,
): Promise<readonly Finding[]> {
  await using registry = createRegistry({ model })
  const builtin = createProgramPlugins({ ...options, folder, config: values, mcp: null })
  const { plugin: permission } = createPermissionPlugin({
    policy: values.permissions,
    autoApproved: () => registry.autoApprovedTools(),
    findTool: (tool) => registry.findTool(tool),
  })
  for (const plugin of [permission, ...builtin, ...plugins.plugins]) await registry.register(plugin)
  await registry.discover(plugins.entries, createPluginLoader({ directory: options.workingDirectory }))
  const sessions = createSessionPlugin(values.session, { ...options, directory: EMPTY_DIRECTORY })
  await registry.register(sessions, { config: values.session })
  const skipped = registry.skipped().map(({ name, reason, message }) => {
    if (reason === "model_requirement") return warning(`plugin ${name}`, message, "Use another model to have it.")
    return problem(`plugin ${name}`, message, "Fix it, or remove it from the configuration.")
  })
  const unknown = describeUnknownTools(values.permissions.rules, registry).map((text) =>
    warning("permissions", text, "Correct the rule, or remove it."),
  )
  const names = registry.list({ isExposed: true }).map(({ name }) => name)
  return [ok("plugins", names.join(", ")), ...skipped, ...unknown]
}

/** The doctor opens no conversation. */
const EMPTY_DIRECTORY: SessionDirectory = {
  workspace: DEFAULT_WORKSPACE,
  list: async () => ({ items: [] }),
  load: async () => undefined,
  restore: async ({ id }) => id,
  delete: async () => false,
  describe: async () => {},
  update: (id) => Promise.reject(new MeanwhileError("not_found", `There is no session ${id}.`)),
  fork: (id) => Promise.reject(new MeanwhileError("not_found", `There is no session ${id}.`)),
}

async function examineServers(options: DoctorOptions, { contents, trust }: ProgramFolder): Promise<readonly Finding[]> {
  if (trust !== "trusted" || !contents.files.includes(MCP_FILE)) return []
  return findOr("mcp", "Correct the file, then run the doctor again.", async () => {
    const config = await readMcpConfig(join(contents.directory, MCP_FILE), options.environment)
    const checks = await checkServers(config, options)
    return checks.map((check) => {
      const name = `mcp ${check.name}`
      if (check.outcome === "disabled") return ok(name, "switched off")
      if (check.outcome === "reachable") return ok(name, `reachable, ${check.tools} tools`)
      return problem(name, check.reason, `Check its entry in ${MCP_FILE}, or set "disabled": true.`)
    })
  })
}
