import { z } from "zod"
import type { JsonValue } from "../../src/base/json.ts"
import type { ToolContext } from "../../src/plugin/context.ts"
import { type BackgroundPolicy, defineTool, type Tool } from "../../src/plugin/tool.ts"

/** Ends at once and returns its input. */
export const echo: Tool = defineTool({
  name: "echo",
  description: "Hands its input back.",
  input: z.object({ value: z.json().default(null) }),
  background: { mode: "after" },
  run: async ({ value }) => value as JsonValue,
})

export interface GatedCall {
  readonly context: ToolContext
  readonly input: { readonly name: string }
  finish(value?: JsonValue): void
  fail(error: Error): void
}

export interface GatedTool {
  readonly tool: Tool
  /** All calls so far, oldest first. */
  readonly calls: readonly GatedCall[]
  /** The n-th call, counted from 1, once it has begun. */
  call(number: number): Promise<GatedCall>
}

/** A tool whose calls end when the test says so. With `obeys` a stop ends them as well. */
export function createGatedTool(
  options: Partial<Tool> & { obeys?: boolean; background?: BackgroundPolicy } = {},
): GatedTool {
  const { obeys = false, ...rest } = options
  const calls: GatedCall[] = []
  let onCall = Promise.withResolvers<void>()
  const tool = defineTool<{ name: string }>({
    name: "gated",
    description: "Ends when it is told to.",
    background: { mode: "after" },
    ...rest,
    input: z.object({ name: z.string().default("") }),
    run: (input, context) =>
      new Promise((resolve, reject) => {
        if (obeys) context.signal.addEventListener("abort", () => reject(new Error("stopped")))
        calls.push({ context, input, finish: (value = null) => resolve(value), fail: reject })
        onCall.resolve()
        onCall = Promise.withResolvers()
      }),
  })
  return {
    tool,
    calls,
    async call(number) {
      for (;;) {
        const found = calls[number - 1]
        if (found) return found
        await onCall.promise
      }
    },
  }
}
