import { z } from "zod"
import { type BackgroundPolicy, defineTool, type Tool } from "../../../src/plugin/tool.ts"
import type { OnCrash } from "../../../src/task/step.ts"

/** What lies outside the process: where effects happen and time passes. */
export interface TurnWorld {
  /** Must act without another turn of the event loop, because the turn's owner was checked directly before. */
  act(what: "did" | "done", key: string): void
  pause(key: string, signal: AbortSignal): Promise<void>
  /** Waits until the call has moved to the background. */
  outlast(key: string, signal: AbortSignal): Promise<void>
}

/** What a crash does to each, and whether it moves to the background. */
export const TURN_TOOLS = {
  look: { onCrash: "retry", isSlow: false },
  note: { onCrash: "fail", isSlow: false },
  pay: { onCrash: "ask", isSlow: false },
  build: { onCrash: "retry", isSlow: true },
  deploy: { onCrash: "fail", isSlow: true },
} as const satisfies Record<string, { readonly onCrash: OnCrash; readonly isSlow: boolean }>

export type TurnToolName = keyof typeof TURN_TOOLS

/** How soon a slow call moves to the background. */
export const THRESHOLD_MS = 40

export const toToolText = (key: string): string => `the result of ${key}`

export function createTurnTools(world: TurnWorld): readonly Tool[] {
  return Object.entries(TURN_TOOLS).map(([name, { onCrash, isSlow }]) => {
    const background: BackgroundPolicy = isSlow ? { mode: "after", ms: THRESHOLD_MS } : { mode: "never" }
    return defineTool<{ key: string }>({
      name,
      description: `Has an effect: ${name}.`,
      input: z.object({ key: z.string() }),
      background,
      onCrash,
      async run({ key }, { signal }) {
        world.act("did", key)
        await (isSlow ? world.outlast(key, signal) : world.pause(key, signal))
        signal.throwIfAborted()
        world.act("done", key)
        return toToolText(key)
      },
    })
  })
}
