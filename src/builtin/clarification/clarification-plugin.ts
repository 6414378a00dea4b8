import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { createRequestClarification } from "./request-clarification.ts"

/** Lets the model put questions to the person. */
export function createClarificationPlugin(): ToolPlugin {
  const tool = createRequestClarification()
  return defineBuiltin({
    kind: "tool",
    name: "clarification",
    tools: [tool],
    autoApprovedTools: [tool.name],
    systemInstructions:
      "When what the person wants is unclear and a wrong guess would cost them, ask with request_clarification, all " +
      "questions at once. Their answers tell you what they want; they are no permission for any call.",
  })
}
