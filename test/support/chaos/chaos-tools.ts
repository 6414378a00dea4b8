import { z } from "zod"
import { defineTool, type Tool } from "../../../src/plugin/tool.ts"
import type { ToolContext } from "../../../src/plugin/context.ts"
import type { OnCrash } from "../../../src/task/step.ts"

/** What lies outside the process: where effects happen and time passes. */
export interface World {
  /** Must act without another turn of the event loop, because the lease was checked directly before. */
  act(what: "did" | "done", key: string): void
  pause(durationMs: number): Promise<void>
}

export const stepsInputSchema = z.strictObject({
  /** Names of steps. Each ends in `-once`, `-retry` or `-ask`: what a crash does to the step. */
  steps: z.array(z.string()).default([]),
  pauseMs: z.number().default(0),
  ending: z.enum(["complete", "fail"]).default("complete"),
})
export type StepsInput = z.output<typeof stepsInputSchema>

const ON_CRASH: Readonly<Record<string, OnCrash>> = { once: "fail", retry: "retry", ask: "ask" }
/** The end of a step's name for each `onCrash`; the name of an effect outside a step ends alike. */
const SUFFIX: Readonly<Record<OnCrash, string>> = { fail: "once", retry: "retry", ask: "ask" }

/** The tools that take steps, by name. */
export const STEP_TOOLS = { retrying: "retry", careful: "fail", asking: "ask" } as const satisfies Record<
  string,
  OnCrash
>

export const toOnCrash = (step: string): OnCrash => ON_CRASH[step.slice(step.lastIndexOf("-") + 1)] ?? "fail"

export const toStepResult = (step: string): string => `result of ${step}`

export function createChaosTools(world: World): readonly Tool[] {
  const stepTools = Object.entries(STEP_TOOLS).map(([name, onCrash]) => createStepTool(world, name, onCrash))
  return [...stepTools, createParentTool(), createEndlessTool()]
}

/** A tool that takes its steps one after the other. Without steps it acts once, without a journal. */
function createStepTool(world: World, name: string, onCrash: OnCrash): Tool {
  return defineTool<StepsInput>({
    name,
    description: "Takes steps.",
    input: stepsInputSchema,
    background: { mode: "after", ms: 60_000 },
    onCrash,
    async run({ steps, pauseMs, ending }, context) {
      const toKey = (step: string): string => `${context.taskId}/${context.run}/${step}`
      const results: string[] = []
      for (const step of steps) {
        const options = { onCrash: toOnCrash(step) }
        const effect = async (idempotencyKey: string): Promise<string> => {
          world.act("did", idempotencyKey)
          await pause(world, context, pauseMs)
          return toStepResult(step)
        }
        results.push(await context.step(step, ({ idempotencyKey }) => effect(idempotencyKey), options))
        world.act("done", toKey(step))
        await pause(world, context, pauseMs)
      }
      if (steps.length === 0) {
        world.act("did", toKey(`body-${SUFFIX[onCrash]}`))
        await pause(world, context, pauseMs)
      }
      if (ending === "fail") throw new Error("it was meant to fail")
      return results
    },
  })
}

/** A tool that starts one child under a fixed key, so that a repeated run finds the same child. */
function createParentTool(): Tool {
  return defineTool<{ childSteps: string[] }>({
    name: "parent",
    description: "Starts a task.",
    input: z.strictObject({ childSteps: z.array(z.string()) }),
    background: { mode: "always" },
    onCrash: "retry",
    async run({ childSteps }, { taskId, run, tasks }) {
      const askedBy = { taskId, run, key: "child" }
      const child = await tasks.start({ tool: "retrying", input: { steps: childSteps }, parentTask: taskId, askedBy })
      return child.id
    },
  })
}

/** A tool that ends only when it is stopped. */
function createEndlessTool(): Tool {
  return defineTool<Record<string, never>>({
    name: "endless",
    description: "Runs until it is stopped.",
    input: z.strictObject({}),
    background: { mode: "always" },
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        if (signal.aborted) reject(new Error("stopped"))
        signal.addEventListener("abort", () => reject(new Error("stopped")))
      }),
  })
}

async function pause(world: World, { signal }: ToolContext, durationMs: number): Promise<void> {
  await world.pause(durationMs)
  signal.throwIfAborted()
}

/** A tool whose calls end once `size` of them run at the same time, which proves that as many slots are free. */
export function createBurstTool(size: number): Tool {
  const isFull = Promise.withResolvers<void>()
  let running = 0
  return defineTool<Record<string, never>>({
    name: "burst",
    description: "Ends when enough run at once.",
    input: z.strictObject({}),
    background: { mode: "always" },
    onCrash: "retry",
    async run() {
      running += 1
      if (running === size) isFull.resolve()
      await isFull.promise
      return null
    },
  })
}
