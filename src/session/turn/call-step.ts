import type { FunctionCall } from "../../plugin/message.ts"
import type { OnCrash } from "../../task/step.ts"
import { toPolicy } from "../../runner/admit/details.ts"
import { offeredTools } from "../conversation/context.ts"
import type { OfferedTool } from "../model/tool-list.ts"
import type { TurnScope } from "./turn-scope.ts"

/** The step of a call: unique in its turn, and the same when another claim goes on with it. */
export function toStepKey(position: number, { id }: FunctionCall): string {
  return `${position}/${id}`
}

/** The tool's `onCrash`. */
export function toOnCrash(scope: TurnScope, call: FunctionCall): OnCrash {
  return findOffered(scope, call)?.found.tool.onCrash ?? "fail"
}

/** Undefined: it stays in the foreground, or its input is none that the tool takes. */
export function toBackgroundAfterMs(
  { agents }: TurnScope,
  { input }: FunctionCall,
  { found }: OfferedTool,
): number | undefined {
  const parsed = found.tool.input.safeParse(input)
  const policy = parsed.success ? toPolicy(found.tool, parsed.data) : null
  return policy?.mode === "after" ? (policy.ms ?? agents.background.thresholdSeconds * 1_000) : undefined
}

export function findOffered({ agents, conversation }: TurnScope, { tool }: FunctionCall): OfferedTool | undefined {
  return offeredTools(agents, conversation).find(({ name }) => name === tool)
}
