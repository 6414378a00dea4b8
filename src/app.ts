import { join } from "node:path"
import { type Clock, systemClock } from "./base/clock.ts"
import { closeAll } from "./base/close-all.ts"
import { createShellPlugin } from "./builtin/shell/shell-plugin.ts"
import { loadConfig } from "./config/load-config.ts"
import { createPluginLoader } from "./config/plugin-loader.ts"
import { createTrustStore, type TrustStore } from "./config/trust.ts"
import { createEmbeddedEngine } from "./engine/embedded/engine.ts"
import type { Log } from "./plugin/context.ts"
import type { DiscoveryEntry, LoadPlugin } from "./plugin/discovery.ts"
import type { Plugin } from "./plugin/plugin.ts"
import { createRegistry, type Registry } from "./plugin/registry.ts"
import { type BackgroundConfigInput, backgroundConfigSchema, toBackgroundConfig } from "./runner/config.ts"
import type { Permission } from "./runner/call/permission.ts"
import { createRunner, type Runner } from "./runner/runner.ts"
import type { ShutdownOptions } from "./runner/worker/shutdown.ts"
import { isWorkerAlive, toWorkerIdentity } from "./runner/worker/worker-identity.ts"
import type { Engine } from "./task/engine.ts"

export interface RuntimeOptions {
  /** Where the store and the output of tasks live. Created when missing. */
  readonly dataDirectory: string
  readonly plugins?: readonly Plugin[]
  /** Plugins by package name or path, and what loads them. One that cannot be used is skipped. */
  readonly discovery?: { readonly entries: readonly DiscoveryEntry[]; readonly load: LoadPlugin }
  readonly background?: BackgroundConfigInput
  /** `normal` is faster and may lose the last moments when the machine, not the process, dies. */
  readonly synchronous?: "full" | "normal"
  readonly permission?: Permission
  readonly log?: Log
  readonly clock?: Clock
}

/** One running Meanwhile: its plugins, its tasks and its store. */
export interface Runtime extends AsyncDisposable {
  readonly tasks: Runner
  readonly plugins: Registry
  readonly engine: Engine
  close(options?: ShutdownOptions): Promise<void>
}

/** The one place that picks engine, plugins and clock. What was opened before a failure is closed again. */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { dataDirectory, synchronous = "full", clock = systemClock, background, permission, log } = options
  toBackgroundConfig(background) // Before anything is opened: a configuration that is not valid leaves nothing behind.
  await using opened = new AsyncDisposableStack()
  const engine = opened.use(
    await createEmbeddedEngine({
      path: join(dataDirectory, "store.sqlite"),
      synchronous,
      clock,
      isHolderAlive: isWorkerAlive,
      holder: toWorkerIdentity(),
    }),
  )
  const plugins = opened.use(createRegistry())
  for (const plugin of options.plugins ?? []) await plugins.register(plugin)
  if (options.discovery) await plugins.discover(options.discovery.entries, options.discovery.load)
  const tasks = await createRunner({
    engine,
    clock,
    registry: plugins,
    spoolDirectory: join(dataDirectory, "spool"),
    ...(background && { background }),
    ...(permission && { permission }),
    ...(log && { log }),
  })
  const kept = opened.move()
  const close = (shutdown?: ShutdownOptions): Promise<void> =>
    closeAll([() => tasks.close(shutdown), () => kept.disposeAsync()])
  return { tasks, plugins, engine, close, [Symbol.asyncDispose]: () => close() }
}

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

/** Meanwhile as the terminal program has it: with the shell, and with what the folder's configuration adds. */
export async function openMeanwhile(options: ProgramOptions): Promise<Runtime> {
  const { dataDirectory, workingDirectory, notify } = options
  const environment = withoutUndefined(options.environment)
  const { values, plugins } = await loadTrustedConfig(options, environment)
  const shell = createShellPlugin({ workingDirectory, environment })
  const meanwhile = await createRuntime({
    dataDirectory,
    plugins: [shell, ...plugins.plugins],
    discovery: { entries: plugins.entries, load: createPluginLoader({ directory: workingDirectory }) },
    background: values.background,
  })
  for (const { message } of meanwhile.plugins.skipped()) notify(message)
  return meanwhile
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
