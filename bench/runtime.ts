import { join } from "node:path"
import { createRuntime, type Runtime } from "../src/app.ts"
import { definePlugin } from "../src/plugin/define-plugin.ts"
import type { Tool } from "../src/plugin/tool.ts"
import type { BackgroundConfigInput } from "../src/runner/config.ts"

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
