import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import { FINISH_TOOL } from "../../plugin/agent-request.ts"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import { leftOut } from "../../plugin/left-out.ts"

const LONGEST_LINE = 2_000
const LONGEST_ARTIFACT = 512 * 1024
const MOST_LINES = 20

export const finishSchema = lazily(() => {
  const lines = z.array(z.string().trim().min(1).max(LONGEST_LINE)).max(MOST_LINES)
  const artifact = z.strictObject({
    name: z.string().trim().min(1).max(200),
    mediaType: z.string().trim().min(1).max(100).default("text/plain"),
    text: z.string().max(LONGEST_ARTIFACT),
  })
  return z.strictObject({
    digest: leftOut(lines).describe("What came of the work, in a few lines."),
    facts: leftOut(z.record(z.string(), z.unknown())).describe("What was found out, by name."),
    artifacts: leftOut(z.array(artifact).max(MOST_LINES)).describe(
      "Whole texts that are kept and referred to by name, such as a report or a patch.",
    ),
    nextSteps: leftOut(lines).describe("What should be done next."),
    payload: z.unknown().optional().describe("Whatever else was asked for, as JSON."),
  })
})

export type HandedBack = z.output<ReturnType<typeof finishSchema>>

/** Does nothing: the input of the call is read from the conversation when the agent's turn has ended. */
export function createFinishTool(): Tool {
  return defineTool({
    name: FINISH_TOOL,
    background: { mode: "never" },
    description:
      "Hands back what you came to, in parts: a digest, facts by name, artifacts, next steps. Call it once your work is " +
      "done, before your last message; of several calls the last counts.",
    input: finishSchema(),
    isForSubagents: true,
    onCrash: "retry",
    run: async () => "It is handed back with your last message. End with that now.",
  })
}
