import { isAbsolute } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import type { UserCommand } from "../../plugin/user-command.ts"
import { createPlanStore, type PlanStore } from "./plan-store.ts"
import { createPlanTools } from "./plan-tools.ts"
import { renderPlan } from "./plan.ts"

export interface TodoPluginOptions {
  /** Absolute. The folder in which an earlier version kept plans as files, which are migrated. */
  readonly directory?: string
}

const INSTRUCTIONS =
  "When a request takes three or more steps, make a plan with createPlan before the first one. Set a step to " +
  "in_progress when you begin it and to completed, failed or skipped as soon as it ends, with a note when it did not " +
  "go as planned. Work that goes on in the background stays in_progress until its result is there. Make no plan for " +
  "a question or a single action."

/** A plan for each conversation, which the model keeps and the person sees. */
export function createTodoPlugin({ directory }: TodoPluginOptions = {}): ToolPlugin {
  if (directory !== undefined && !isAbsolute(directory)) {
    const message = `The todo plugin takes an absolute directory only, not "${directory}".`
    throw new MeanwhileError("invalid_input", message, { directory })
  }
  const plans = createPlanStore(directory)
  const tools = createPlanTools(plans)
  return defineBuiltin({
    kind: "tool",
    name: "todo",
    tools,
    autoApprovedTools: tools.map(({ name }) => name),
    userCommands: [createPlanCommand(plans)],
    systemInstructions: INSTRUCTIONS,
  })
}

function createPlanCommand(plans: PlanStore): UserCommand {
  return {
    name: "plan",
    description: "show the plan of this conversation and how far it is",
    run: async (_, context) => {
      const plan = await plans.get(context)
      return plan ? renderPlan(plan) : "There is no plan in this conversation."
    },
  }
}
