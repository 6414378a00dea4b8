import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import type { RuntimeOptions } from "../../src/app.ts"
import { isMeanwhileError } from "../../src/base/error.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { endStartedAfterTest } from "./processes.ts"
import { openTestRuntime, type TestRuntime } from "./test-engine.ts"

export interface Workplace {
  readonly directory: string
  readonly meanwhile: TestRuntime
  /** Opens another Meanwhile on the same data, like a second terminal. */
  another(options?: WorkplaceOptions): Promise<TestRuntime>
}

export interface WorkplaceOptions extends Partial<Omit<RuntimeOptions, "dataDirectory" | "plugins">> {
  readonly tools?: readonly Tool[]
}

/** A real store and real processes in a folder of the test. The plugins are `test` (with the given tools) and `shell`. */
export async function createWorkplace(options: WorkplaceOptions = {}): Promise<Workplace> {
  const directory = createFolder()
  const open = (more: WorkplaceOptions) => openIn(directory, { ...options, ...more })
  return { directory, meanwhile: await open({}), another: (more = {}) => open(more) }
}

/** A folder that is removed after the test; processes that the shell has started in it are killed. */
export function createFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-test-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  endStartedAfterTest(toTestMarker(directory))
  return directory
}

/** The marker in the environment of the shell's commands in this folder. */
export const toTestMarker = (directory: string): string => `MEANWHILE_TEST=${directory}`

/** A Meanwhile on the folder's data, closed after the test. */
export async function openIn(
  directory: string,
  { tools = [], ...options }: WorkplaceOptions = {},
): Promise<TestRuntime> {
  const environment = { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: directory }
  const meanwhile = await openTestRuntime({
    ...options,
    dataDirectory: join(directory, "data"),
    plugins: [
      definePlugin({ kind: "tool", name: "test", tools }),
      createShellPlugin({ workingDirectory: directory, environment }),
    ],
  })
  onTestFinished(() =>
    meanwhile.close().catch((error: unknown) => {
      // A test may have removed the store.
      if (!isMeanwhileError(error, "store_gone")) throw error
    }),
  )
  return meanwhile
}
