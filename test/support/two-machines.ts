import { onTestFinished } from "vitest"
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { createTestPostgres } from "./postgres/engine.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import type { Engine } from "../../src/task/engine.ts"
import type { TaskId } from "../../src/task/id.ts"
import { watchFirstLook } from "./test-engine.ts"
import { createFolder } from "./workplace.ts"

export interface Machine {
  /** The machine's data folder, in which its commands run, too. No other machine reads it. */
  readonly folder: string
  readonly runtime: Runtime
  readonly engine: Engine
}

export interface MachineOptions extends Partial<RuntimeOptions> {
  readonly tools?: readonly Tool[]
  /** The folder of another process, to open one more on the same machine. */
  readonly folder?: string
  /** True if the runtime is dead at the end of the test, and cannot be closed. */
  readonly isOver?: () => boolean
}

export interface Machines {
  readonly url: string
  open(options?: MachineOptions): Promise<Machine>
}

/** Machines that share a store on PostgreSQL and no folder. The plugins are `test` (the tools given) and `shell`. */
export async function createMachines(): Promise<Machines> {
  const { url, another, dispose } = await createTestPostgres()
  onTestFinished(dispose)
  return {
    url,
    async open({ tools = [], folder = createFolder(), isOver = () => false, ...options } = {}) {
      const engine = await another()
      const environment = { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: folder }
      const { dispatcher, hasLooked } = watchFirstLook(engine.dispatcher)
      const runtime = await createRuntime({
        environment: {},
        permissions: allowAll,
        ...options,
        engine: { ...engine, dispatcher },
        dataDirectory: folder,
        plugins: [
          definePlugin({ kind: "tool", name: "test", tools }),
          createShellPlugin({ workingDirectory: folder, environment }),
        ],
      })
      onTestFinished(async () => {
        if (!isOver()) await runtime.close()
      })
      if (options.takesWork !== false) await hasLooked
      return { folder, runtime, engine }
    },
  }
}

/** Starts commands on a new machine and closes its runtime: the commands (`forever`) go on. */
export async function leaveCommands(
  machines: Machines,
  options?: MachineOptions,
  count = 1,
): Promise<readonly TaskId[]> {
  const { runtime } = await machines.open(options)
  const input = { command: "echo begun; exec sleep 1000" }
  const ids: TaskId[] = []
  for (let index = 0; index < count; index++) {
    const { id } = await runtime.tasks.start({ tool: "run_command", input, lifetime: "forever" })
    await runtime.tasks.waitForOutput(id, { pattern: /begun/, timeoutMs: 20_000 })
    ids.push(id)
  }
  await runtime.close()
  return ids
}
