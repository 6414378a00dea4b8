import { z } from "zod"
import type { Tool } from "../../plugin/tool.ts"
import type { StopScope } from "../run/scope.ts"
import { TURN_TOOL } from "../tool/turn-name.ts"
import { findTurnRun, type TurnBody } from "./turn-run.ts"

/**
 * The tool that a turn's record names. Its input is the conversation itself. A turn that begins here brings its own body;
 * this one continues a turn that was taken from the queue.
 */
export function createTurnTool(scope: () => StopScope, continueTurn: TurnBody): Tool {
  const tool: Omit<Tool, "kind"> & { readonly kind: "turn" } = {
    name: TURN_TOOL,
    description: "A turn of a conversation.",
    kind: "turn",
    input: z.unknown(),
    onCrash: "retry",
    run: async (_input, { taskId }) => continueTurn(findTurnRun(scope(), taskId)),
  }
  return tool as unknown as Tool
}
