import { join } from "node:path"
import { onTestFinished } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createRegistry } from "../../src/plugin/registry.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { createRunner, type Runner, type RunnerOptions } from "../../src/runner/runner.ts"

type Options = Pick<
  RunnerOptions,
  "engine" | "clock" | "log" | "background" | "conversations" | "permission" | "continueTurn" | "onCreated" | "maxHops"
> & {
  readonly tools: readonly Tool[]
  /** True if the runner is dead at the end of the test, and cannot be closed. */
  readonly isOver?: () => boolean
}

/** A runner on the engine that the test gives, closed after the test. Its plugin is `test`. */
export async function openRunner(directory: string, { tools, isOver, ...options }: Options): Promise<Runner> {
  const registry = createRegistry()
  await registry.register(definePlugin({ kind: "tool", name: "test", tools }))
  const runner = await createRunner({ ...options, registry, spoolDirectory: join(directory, "spool") })
  onTestFinished(async () => {
    if (!isOver?.()) await runner.close()
  })
  return runner
}
