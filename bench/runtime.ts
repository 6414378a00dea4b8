import { join } from "node:path"
import { createEmbeddedEngine } from "../src/engine/embedded/engine.ts"
import type { Tool } from "../src/plugin/tool.ts"
import type { TaskService } from "../src/plugin/task-service.ts"
import type { BackgroundConfigInput } from "../src/runner/config.ts"
import { createRunner } from "../src/runner/runner.ts"
import type { ToolSource } from "../src/runner/tool-source.ts"
import type { Engine } from "../src/task/engine.ts"

export interface RuntimeOptions {
  readonly folder: string
  readonly tools: readonly Tool[]
  readonly config?: BackgroundConfigInput
}

export interface Runtime extends AsyncDisposable {
  readonly engine: Engine
  readonly tasks: TaskService
  readonly storePath: string
  close(): Promise<void>
}

const PLUGIN = "bench"

export const storePathIn = (folder: string): string => join(folder, "store.db")

/** A runner on an embedded engine as a program would have it, durable in full, with these tools and no plugin. */
export async function openRuntime({ folder, tools, config = {} }: RuntimeOptions): Promise<Runtime> {
  const storePath = storePathIn(folder)
  const engine = await createEmbeddedEngine({ path: storePath, synchronous: "full" })
  const runner = await createRunner({
    engine,
    tools: toToolSource(tools),
    spoolDirectory: join(folder, "spool"),
    background: config,
  })
  async function close(): Promise<void> {
    await runner.close()
    await engine.close()
  }
  return { engine, tasks: runner, storePath, close, [Symbol.asyncDispose]: close }
}

function toToolSource(tools: readonly Tool[]): ToolSource {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    find(name) {
      const tool = byName.get(name)
      if (!tool) throw new Error(`the benchmark has no tool ${name}`)
      return { plugin: PLUGIN, tool }
    },
    plugins: () => [PLUGIN],
  }
}
