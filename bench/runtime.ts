import { join } from "node:path"
import { createRuntime, type Runtime } from "../src/app.ts"
import { createPostgresEngine } from "../src/engine/postgres/engine.ts"
import { definePlugin } from "../src/plugin/define-plugin.ts"
import type { Tool } from "../src/plugin/tool.ts"
import type { BackgroundConfigInput } from "../src/runner/limits/background-config.ts"
import type { Engine } from "../src/task/engine.ts"

export interface RuntimeOptions {
  readonly folder: string
  readonly tools: readonly Tool[]
  readonly background?: BackgroundConfigInput
}

export const storePathIn = (folder: string): string => join(folder, "store.sqlite")

/** Meanwhile as a program would have it, durable in full, with these tools. */
export function openRuntime({ folder, tools, background = {} }: RuntimeOptions): Promise<Runtime> {
  const plugin = definePlugin({ kind: "tool", name: "bench", tools })
  return createRuntime({ dataDirectory: folder, plugins: [plugin], background, synchronous: "full" })
}

export interface PostgresRuntimeOptions {
  readonly url: string
  readonly tools: readonly Tool[]
  /** How many tasks run in this process at once. 0: other processes run what this one starts. */
  readonly atOnce: number
  /** Default: an engine of the runtime's own. */
  readonly engine?: Engine
}

/** The same on a server, whose durability is the server's. */
export async function openPostgresRuntime(options: PostgresRuntimeOptions): Promise<Runtime> {
  const { url, tools, atOnce, engine = await createPostgresEngine({ url }) } = options
  const plugin = definePlugin({ kind: "tool", name: "bench", tools })
  const takesWork = atOnce > 0
  const background = takesWork ? { maxConcurrentTasks: atOnce, maxConcurrentPerPlugin: atOnce } : {}
  return createRuntime({ engine, plugins: [plugin], background, takesWork })
}
