import { join } from "node:path"
import { onTestFinished } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createRegistry } from "../../src/plugin/registry.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { createRunner, type Runner, type RunnerOptions } from "../../src/runner/runner.ts"
import type { Engine } from "../../src/task/engine.ts"
import { openTestEngine } from "./test-engine.ts"
import { echo } from "./tools.ts"
import { createFolder } from "./workplace.ts"

interface Opened extends Runner {
  /** Replaces the tools of the worker's plugin `test`. */
  have(...tools: readonly Tool[]): void
}

export const other: Tool = { ...echo, name: "other" }

export async function openWorker(
  directory: string,
  { tools = [echo], ...options }: Partial<RunnerOptions> & { engine: Engine; tools?: readonly Tool[] },
): Promise<Opened> {
  const registry = createRegistry()
  let current = tools
  const plugin = Object.defineProperty(definePlugin({ kind: "tool", name: "test", tools }), "tools", {
    get: () => current,
  })
  await registry.register(plugin)
  const runner = await createRunner({ ...options, registry, spoolDirectory: join(directory, "spool") })
  onTestFinished(() => runner.close())
  return Object.assign(runner, {
    have(...next: readonly Tool[]) {
      current = next
      registry.refreshTools("test")
    },
  })
}

export function openPlace(directory = createFolder()) {
  return { directory, engine: () => openTestEngine(directory) }
}

/** Counts the announcements and renewals written to the store, and the lists of workers read from it. */
export function watch(engine: Engine) {
  const seen = { announcements: 0, lists: 0, renewals: 0 }
  const commit: typeof engine.store.commit = (operations, options) => {
    if (operations.some(({ op }) => op === "document.put")) seen.announcements += 1
    if (operations.some(({ op }) => op === "lease.renew")) seen.renewals += 1
    return engine.store.commit(operations, options)
  }
  const workers: typeof engine.store.workers = () => {
    seen.lists += 1
    return engine.store.workers()
  }
  return { seen, engine: { ...engine, store: { ...engine.store, commit, workers } } }
}
