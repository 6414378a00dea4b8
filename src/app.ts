import { join } from "node:path"
import { type Clock, systemClock } from "./base/clock.ts"
import { createEmbeddedEngine } from "./engine/embedded/engine.ts"
import type { Log } from "./plugin/context.ts"
import type { Plugin } from "./plugin/plugin.ts"
import { createRegistry, type Registry } from "./plugin/registry.ts"
import type { BackgroundConfigInput } from "./runner/config.ts"
import type { Permission } from "./runner/permission.ts"
import { createRunner, type Runner } from "./runner/runner.ts"
import type { ShutdownOptions } from "./runner/shutdown.ts"
import { isWorkerAlive, toWorkerIdentity } from "./runner/worker-identity.ts"
import type { Engine } from "./task/engine.ts"

export interface MeanwhileOptions {
  /** Where the store and the output of tasks live. Created when missing. */
  readonly dataDirectory: string
  readonly plugins?: readonly Plugin[]
  readonly background?: BackgroundConfigInput
  /** `normal` is faster and may lose the last moments when the machine, not the process, dies. */
  readonly synchronous?: "full" | "normal"
  readonly permission?: Permission
  readonly log?: Log
  readonly clock?: Clock
}

/** One running Meanwhile: its plugins, its tasks and its store. */
export interface Meanwhile extends AsyncDisposable {
  readonly tasks: Runner
  readonly plugins: Registry
  readonly engine: Engine
  close(options?: ShutdownOptions): Promise<void>
}

/** The one place that picks engine, plugins and clock. What was opened before a failure is closed again. */
export async function createMeanwhile(options: MeanwhileOptions): Promise<Meanwhile> {
  const { dataDirectory, synchronous = "full", clock = systemClock, background, permission, log } = options
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
  async function close(shutdown?: ShutdownOptions): Promise<void> {
    await tasks.close(shutdown)
    await kept.disposeAsync()
  }
  return { tasks, plugins, engine, close, [Symbol.asyncDispose]: () => close() }
}
