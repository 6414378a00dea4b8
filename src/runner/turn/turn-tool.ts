import { z } from "zod"
import type { Tool } from "../../plugin/tool.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { RunnerScope } from "../run/scope.ts"
import { TURN_TOOL } from "../tool/turn-name.ts"
import { createTurnRun, type TurnHandler } from "./turn-run.ts"

/** What a turn's record names as its tool. Its input is the conversation itself. */
export function createTurnTool(scope: () => RunnerScope, handler: TurnHandler): Tool {
  const tool: Omit<Tool, "kind"> & { readonly kind: "turn" } = {
    name: TURN_TOOL,
    description: "A turn of a conversation.",
    kind: "turn",
    input: z.unknown(),
    onCrash: "retry",
    async run(_input, { taskId }) {
      const active = scope().active.get(taskId)
      if (!active) throw new MeanwhileError("wrong_state", `The turn ${taskId} does not run here.`)
      return handler(createTurnRun(scope(), active))
    },
  }
  return tool as unknown as Tool
}
