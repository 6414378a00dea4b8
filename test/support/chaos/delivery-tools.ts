import { z } from "zod"
import type { ToolContext } from "../../../src/plugin/context.ts"
import { defineTool, type Tool, failWith } from "../../../src/plugin/tool.ts"
import type { TaskId } from "../../../src/task/id.ts"

export interface HeldWork {
  readonly mark: string
  readonly taskId: TaskId
  readonly run: number
  release(): void
}

/** Holds work until it is released. */
export interface DeliveryWorld {
  /** Oldest first. */
  readonly held: ReadonlySet<HeldWork>
  /** Releases all work, and holds none from now on. */
  open(): void
  /** Waits for this many turns of the event loop, or as many milliseconds of real time. */
  pass(turns: number): Promise<void>
  hold(mark: string, context: Pick<ToolContext, "taskId" | "run" | "signal">): Promise<void>
}

export function createWorld(pass: DeliveryWorld["pass"]): DeliveryWorld {
  const held = new Set<HeldWork>()
  let isOpen = false
  return {
    held,
    open() {
      isOpen = true
      for (const { release } of held) release()
    },
    pass,
    async hold(mark, { taskId, run, signal }) {
      if (isOpen) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const work = { mark, taskId, run, release: resolve }
      held.add(work)
      signal.addEventListener("abort", () => resolve())
      await promise
      held.delete(work)
    },
  }
}

/** The result of a run, different for every run. */
export const toResultMark = (mark: string, run: number): string => `<${mark}/${run}>`

export function createDeliveryTools(world: DeliveryWorld): readonly Tool[] {
  const shared = {
    input: z.object({ mark: z.string() }),
    background: { mode: "always" },
    title: (input: unknown) => (input as { readonly mark: string }).mark,
    async run({ mark }: { readonly mark: string }, context: ToolContext) {
      await world.hold(mark, context)
      context.signal.throwIfAborted()
      const result = toResultMark(mark, context.run)
      return mark.startsWith("f") ? failWith({ code: "broken", message: result }) : result
    },
  } as const
  return [
    defineTool({ ...shared, name: "work", description: "Takes a while.", onCrash: "retry" }),
    defineTool({ ...shared, name: "delicate", description: "Must not be repeated.", onCrash: "fail" }),
    defineTool({
      name: "look",
      description: "Takes a moment.",
      input: z.object({}),
      onCrash: "retry",
      async run() {
        await world.pass(3)
        return "Nothing to see."
      },
    }),
  ]
}
