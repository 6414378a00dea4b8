import { appendFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { ToolPlugin } from "../../../src/plugin/tool-plugin.ts"
import { createChaosTools } from "../chaos/chaos-tools.ts"

/** Tools whose steps append to a file that all workers share and no crash shortens. Each line ends with the worker's pid. */
export function createPlugin({ effectsFile }: { readonly effectsFile: string }): ToolPlugin {
  const act = (what: "did" | "done", key: string): void =>
    appendFileSync(effectsFile, `${what} ${key} ${process.pid}\n`)
  return definePlugin({ kind: "tool", name: "chaos", tools: createChaosTools({ act, pause: sleep }) })
}
