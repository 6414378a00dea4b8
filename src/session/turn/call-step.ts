import type { FunctionCall } from "../../plugin/message.ts"
import type { OnCrash } from "../../task/step.ts"
import { offeredTools } from "../conversation-context.ts"
import type { OfferedTool } from "../tool-list.ts"
import type { TurnScope } from "./turn-scope.ts"

/** The step of a call: unique in its turn, and the same when another claim goes on with it. */
export function toStepKey(position: number, { id }: FunctionCall): string {
  return `${position}/${id}`
}

/** What a crash in the middle of the call does. */
export function toOnCrash(scope: TurnScope, call: FunctionCall): OnCrash {
  return findOffered(scope, call)?.found.tool.onCrash ?? "fail"
}

export function findOffered({ agents, conversation }: TurnScope, { tool }: FunctionCall): OfferedTool | undefined {
  return offeredTools(agents, conversation).find(({ name }) => name === tool)
}
