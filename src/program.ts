import { createShellPlugin } from "./builtin/shell/shell-plugin.ts"
import { createRuntime, type Runtime } from "./app.ts"
import { loadConfig } from "./config/load-config.ts"
import { createPluginLoader } from "./config/plugin-loader.ts"
import { createTrustStore, type TrustStore } from "./config/trust.ts"
import { backgroundConfigSchema } from "./runner/config.ts"

export interface ProgramOptions {
  readonly dataDirectory: string
  /** Where commands run, and where a configuration is looked for. */
  readonly workingDirectory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Trust this folder's configuration from now on. */
  readonly trust: boolean
  readonly trustStore?: TrustStore
  /** For what a person should know and need not act on. */
  readonly notify: (text: string) => void
}

/** The runtime as the terminal program has it: with the built-in plugins, and with what the folder's configuration adds. */
export async function openProgram(options: ProgramOptions): Promise<Runtime> {
  const { dataDirectory, workingDirectory, notify } = options
  const environment = withoutUndefined(options.environment)
  const { values, plugins } = await loadTrustedConfig(options, environment)
  const shell = createShellPlugin({ workingDirectory, environment })
  const runtime = await createRuntime({
    dataDirectory,
    environment,
    plugins: [shell, ...plugins.plugins],
    discovery: { entries: plugins.entries, load: createPluginLoader({ directory: workingDirectory }) },
    background: values.background,
  })
  for (const { message } of runtime.plugins.skipped()) notify(message)
  return runtime
}

async function loadTrustedConfig(options: ProgramOptions, environment: Readonly<Record<string, string>>) {
  const { workingDirectory: directory, notify, trustStore: trust = createTrustStore() } = options
  const request = { directory, environment, trust, sections: { background: backgroundConfigSchema } }
  const loaded = await loadConfig(request)
  if (loaded.status === "absent" && options.trust) notify(`There is no configuration in ${directory} to trust.`)
  if (loaded.status !== "untrusted") return loaded
  if (options.trust) {
    await trust.trust(loaded.file)
    return loadConfig(request)
  }
  notify(`${loaded.path} was not loaded: nobody has trusted it as it is now. Read it, then start with --trust.`)
  return loaded
}

function withoutUndefined(environment: ProgramOptions["environment"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
