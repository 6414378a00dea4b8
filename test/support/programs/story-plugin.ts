import { appendFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import type { ToolPlugin } from "../../../src/plugin/tool-plugin.ts"
import { createTurnTools, THRESHOLD_MS } from "../chaos/turn-tools.ts"

/** The tools of a story, which append to a file from which no crash removes anything. */
export function createPlugin({ effectsFile }: { readonly effectsFile: string }): ToolPlugin {
  const tools = createTurnTools({
    act: (what, key) => appendFileSync(effectsFile, `${what} ${key}\n`),
    pause: () => sleep(8),
    outlast: () => sleep(2 * THRESHOLD_MS),
  })
  return definePlugin({ kind: "tool", name: "story", tools })
}
