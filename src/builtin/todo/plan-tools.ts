import { z } from "zod"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { defineTool, type Tool, type ToolReturn, showModel } from "../../plugin/tool.ts"
import {
  countEnded,
  createPlan,
  type Plan,
  planTitle,
  renderPlan,
  stepNote,
  stepStatus,
  stepText,
  updateStep,
} from "./plan.ts"
import type { PlanStore } from "./plan-store.ts"

const MOST_STEPS = 100

/** All can be repeated after a crash: each sets a state, whatever the plan was before. */
export function createPlanTools(plans: PlanStore): readonly Tool[] {
  return [
    defineTool({
      name: "createPlan",
      background: { mode: "never" },
      description: "Makes the plan of this conversation, in place of the one before. The steps are numbered from 1.",
      input: z.strictObject({
        title: planTitle().default(""),
        steps: z.array(stepText()).min(1).max(MOST_STEPS).describe("What is to be done, in order, a line each."),
      }),
      title: ({ title, steps }) => `plan ${title || `${steps.length} steps`}`,
      onCrash: "retry",
      async run({ title, steps }, context) {
        const before = await plans.get(context).catch((error: unknown) => {
          if (!isMeanwhileError(error, "store_damaged")) throw error
          context.log.warn("a plan that could not be read is replaced", { reason: toErrorMessage(error) })
          return undefined
        })
        const plan = await plans.put(context, createPlan(title, steps))
        return showPlan(plan, describeReplaced(before, plan))
      },
    }),
    defineTool({
      name: "updateStep",
      background: { mode: "never" },
      description: "Says how far one step of the plan is.",
      input: z.strictObject({
        step: z.number().int().min(1).describe("Its number, from 1."),
        status: stepStatus(),
        note: stepNote().optional().describe("A few words, such as why it failed or was skipped."),
      }),
      title: ({ step, status }) => `step ${step} ${status}`,
      onCrash: "retry",
      run: async (update, context) =>
        showPlan(await plans.change(context, (plan) => updateStep(requirePlan(plan), update))),
    }),
    defineTool({
      name: "getPlanStatus",
      background: { mode: "never" },
      description: "Shows the plan of this conversation and how far it is.",
      input: z.strictObject({}),
      onCrash: "retry",
      run: async (_, context) => showPlan(requirePlan(await plans.get(context))),
    }),
  ]
}

function requirePlan(plan: Plan | undefined): Plan {
  if (plan) return plan
  throw new MeanwhileError("not_found", "There is no plan in this conversation yet. Make one with createPlan.")
}

function showPlan(plan: Plan, more: readonly string[] = []): ToolReturn {
  const [heading = "", ...steps] = renderPlan(plan).split("\n")
  return showModel([{ type: "text", text: [heading, ...steps, ...more].join("\n") }], heading)
}

function describeReplaced(before: Plan | undefined, plan: Plan): readonly string[] {
  if (!before || JSON.stringify(before) === JSON.stringify(plan)) return []
  const open = before.steps.length - countEnded(before)
  return open > 0 ? [`It replaces a plan with ${open} steps that had not ended.`] : []
}
