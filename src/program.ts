import { join } from "node:path"
import { createRuntime, type Runtime, type RuntimeOptions } from "./app.ts"
import { toErrorMessage } from "./base/error.ts"
import type { McpConfig } from "./builtin/mcp/mcp-config.ts"
import { readMcpConfig } from "./builtin/mcp/read-mcp-config.ts"
import { createEngineSessionPlugin } from "./builtin/session/engine-session-plugin.ts"
import { createFileSessionPlugin } from "./builtin/session/file-session-plugin.ts"
import { MCP_FILE } from "./config/folder-contents.ts"
import { loadConfig } from "./config/load-config.ts"
import { createPluginLoader } from "./config/plugin-loader.ts"
import { CONFIG_SECTIONS, type ProgramConfig } from "./program-config.ts"
import { type FolderOptions, openFolder, type ProgramFolder } from "./program-folder.ts"
import { createProgramPlugins } from "./program-plugins.ts"

export type { TrustQuestion } from "./program-folder.ts"

/** Beside the folder: what the one who opens the program brings, over what the configuration says. */
export interface ProgramOptions extends FolderOptions, Pick<RuntimeOptions, "model" | "person" | "log" | "clock"> {
  readonly dataDirectory: string
  /** Where commands run, and where a configuration is looked for. */
  readonly workingDirectory: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** The runtime as the terminal program has it: with the built-in plugins, and with what a trusted folder adds. */
export async function openProgram(options: ProgramOptions): Promise<Runtime> {
  const { dataDirectory, workingDirectory, notify, model, person, log, clock } = options
  const environment = withoutUndefined(options.environment)
  const folder = await openFolder(options)
  const isTrusted = folder.trust === "trusted"
  const { values, plugins } = await loadConfig({
    directory: workingDirectory,
    sections: CONFIG_SECTIONS,
    isTrusted,
    environment,
  })
  const shared = { ...(log && { log }), ...(clock && { clock }) }
  const mcp = await readServers(folder, environment, notify)
  let refreshMcp = () => {}
  const builtin = createProgramPlugins({
    ...shared,
    folder,
    config: values,
    mcp,
    dataDirectory,
    workingDirectory,
    environment,
    onMcpToolsChanged: () => refreshMcp(),
  })
  const runtime = await createRuntime({
    ...shared,
    dataDirectory,
    environment,
    ...(model !== undefined && { model }),
    ...(person && { person }),
    agent: values.agent,
    background: values.background,
    gc: values.gc,
    permissions: values.permissions,
    providers: values.providers,
    models: values.models,
    sessionPlugin: toSessionPlugin(values.session, workingDirectory),
    sessionConfig: values.session,
    plugins: [...builtin, ...plugins.plugins],
    discovery: { entries: plugins.entries, load: createPluginLoader({ directory: workingDirectory }) },
  })
  refreshMcp = () => runtime.plugins.refreshTools("mcp")
  // A server may have come between the plugin's start and now.
  refreshMcp()
  for (const { message } of runtime.plugins.skipped()) notify(message)
  return runtime
}

const NO_SERVERS: McpConfig = { mcpServers: {} }

/** A mistake in `.mcp.json` costs the servers, not the conversation. */
async function readServers(
  { contents, trust }: ProgramFolder,
  environment: Readonly<Record<string, string>>,
  notify: (text: string) => void,
): Promise<McpConfig> {
  if (trust !== "trusted" || !contents.files.includes(MCP_FILE)) return NO_SERVERS
  try {
    return await readMcpConfig(join(contents.directory, MCP_FILE), environment)
  } catch (error) {
    notify(`No MCP server was started. ${toErrorMessage(error)}`)
    return NO_SERVERS
  }
}

function toSessionPlugin(
  { plugin }: ProgramConfig["session"],
  workingDirectory: string,
): NonNullable<RuntimeOptions["sessionPlugin"]> {
  return (directory) =>
    plugin === "file"
      ? createFileSessionPlugin({ directory, workingDirectory })
      : createEngineSessionPlugin({ directory })
}

function withoutUndefined(environment: ProgramOptions["environment"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
