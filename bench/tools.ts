import { z } from "zod"
import { defineTool, type Tool, failWith } from "../src/plugin/tool.ts"

const background = { mode: "after" } as const
const input = z.object({})

/** Ends at once. */
export const noOp: Tool = defineTool({
  name: "no_op",
  description: "Does nothing.",
  input,
  background,
  run: async () => null,
})

/** Fails at once. */
export const failing: Tool = defineTool({
  name: "failing",
  description: "Fails.",
  input,
  background,
  run: async () => failWith({ code: "broken", message: "it does not work" }),
})

export interface HeldTool {
  readonly tool: Tool
  /** Resolves when the next call has begun, with the moment it did and what lets it end. */
  nextCall(): Promise<HeldCall>
}

export interface HeldCall {
  readonly beganAt: number
  readonly signal: AbortSignal
  release(): void
}

/** A tool whose calls end when they are told to, or when they are stopped. */
export function createHeldTool(): HeldTool {
  let next = Promise.withResolvers<HeldCall>()
  const tool = defineTool({
    name: "held",
    description: "Ends when it is told to.",
    input,
    background,
    run: (_input, { signal }) =>
      new Promise<null>((resolve) => {
        const end = () => resolve(null)
        signal.addEventListener("abort", end)
        next.resolve({ beganAt: performance.now(), signal, release: end })
      }),
  })
  return {
    tool,
    nextCall() {
      next = Promise.withResolvers()
      return next.promise
    },
  }
}

export interface TogetherTool {
  readonly tool: Tool
  /** Resolves when all calls have begun. */
  readonly allBegun: Promise<void>
  /** Ends all of them. */
  release(): void
}

/** A tool whose calls all end in the same moment. */
export function createTogetherTool(count: number): TogetherTool {
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<null>()
  let calls = 0
  const tool = defineTool({
    name: "together",
    description: "Ends with all others.",
    input,
    background,
    run() {
      calls += 1
      if (calls === count) begun.resolve()
      return released.promise
    },
  })
  return { tool, allBegun: begun.promise, release: () => released.resolve(null) }
}
