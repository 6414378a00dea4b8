import { join } from "node:path"
import type { Clock } from "../base/clock.ts"
import type { Variables } from "../base/environment.ts"
import { createBackgroundPlugin } from "../builtin/background/background-plugin.ts"
import { createClarificationPlugin } from "../builtin/clarification/clarification-plugin.ts"
import { createFileEditPlugin } from "../builtin/file_edit/file-edit-plugin.ts"
import { keyVariables } from "../builtin/models/provider-table.ts"
import { createMultimodalPlugin } from "../builtin/multimodal/multimodal-plugin.ts"
import { createReferencesPlugin } from "../builtin/references/references-plugin.ts"
import { createEngineSessionPlugin } from "../builtin/session/engine-session-plugin.ts"
import { createFileSessionPlugin } from "../builtin/session/file-session-plugin.ts"
import { createShellPlugin } from "../builtin/shell/shell-plugin.ts"
import { createSlashCommandPlugin } from "../builtin/slash_command/slash-command-plugin.ts"
import { createSubagentPlugin } from "../builtin/subagent/subagent-plugin.ts"
import { createTodoPlugin } from "../builtin/todo/todo-plugin.ts"
import { createWebPlugin } from "../builtin/web/web-plugin.ts"
import { ENGINE_VARIABLE } from "../config/engine-url.ts"
import { OWN_FOLDER, type PROMPT_FOLDERS } from "../config/folder-contents.ts"
import type { Plugin } from "../plugin/plugin.ts"
import type { SessionPlugin } from "../plugin/session-plugin.ts"
import type { SessionDirectory } from "../plugin/sessions-port.ts"
import type { ProgramConfig } from "../config-sections.ts"
import type { ProgramFolder } from "./folder.ts"

export interface ProgramPluginsOptions {
  readonly folder: ProgramFolder
  /** Its `engine` is the one that is really used. */
  readonly config: ProgramConfig
  /** Null if there are no MCP servers. */
  readonly mcp: Plugin | null
  readonly dataDirectory: string
  readonly workingDirectory: string
  readonly environment: Variables
  readonly clock?: Clock
}

/** The built-in plugins as the terminal program has them. What the folder brings is used only when it is trusted. */
export function createProgramPlugins(options: ProgramPluginsOptions): readonly Plugin[] {
  const { folder, config, mcp, dataDirectory, workingDirectory: root, clock } = options
  return [
    createShellPlugin({
      workingDirectory: root,
      environment: toCommandEnvironment(options),
      extraPaths: config.shell.extraPaths,
    }),
    createFileEditPlugin({ root, backupDirectory: join(dataDirectory, "backups"), protectedPaths: [dataDirectory] }),
    createWebPlugin({ ...config.web, ...(clock && { clock }) }),
    ...(mcp ? [mcp] : []),
    createTodoPlugin({ directory: join(dataDirectory, "plans") }),
    createReferencesPlugin({ root, webTool: "fetch_url", ...toReferences(options) }),
    createSubagentPlugin({ directories: foldersOf(folder, "profiles") }),
    createSlashCommandPlugin({ directories: foldersOf(folder, "commands") }),
    createClarificationPlugin(),
    createMultimodalPlugin({ root }),
    createBackgroundPlugin({
      ...config.background,
      toolResultLimitCharacters: config.agent.toolResultLimitCharacters,
    }),
  ]
}

/** The plugin that keeps conversations, as the configuration says. */
export function createSessionPlugin(
  { plugin }: ProgramConfig["session"],
  options: { readonly directory: SessionDirectory; readonly workingDirectory: string },
): SessionPlugin {
  return plugin === "file" ? createFileSessionPlugin(options) : createEngineSessionPlugin(options)
}

/**
 * Commands get neither model keys nor the URL of the store: a page or a file could talk a model into sending them away.
 */
function toCommandEnvironment({ config, environment }: ProgramPluginsOptions): Variables {
  const keys = config.shell.passModelKeys ? [] : keyVariables(config.providers)
  const withheld = new Set([...keys, ENGINE_VARIABLE, ...(config.engine === null ? [] : ["PGPASSWORD"])])
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !withheld.has(name)))
}

/** The folder's files come first: its own command goes before the person's general one of the same name. */
function foldersOf(
  { contents, trust, homeDirectory }: ProgramFolder,
  name: (typeof PROMPT_FOLDERS)[number],
): readonly string[] {
  const own = join(homeDirectory, OWN_FOLDER, name)
  return trust === "trusted" ? [...new Set([join(contents.directory, OWN_FOLDER, name), own])] : [own]
}

function toReferences({ folder, config }: ProgramPluginsOptions): ProgramConfig["references"] {
  if (folder.trust !== "trusted") return { documents: [] }
  return { ...config.references, directory: config.references.directory ?? `${OWN_FOLDER}/references` }
}
