import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import { PROGRESS_TOOL } from "../../plugin/agent-request.ts"
import { leftOut } from "../../plugin/left-out.ts"
import { defineTool, type Tool } from "../../plugin/tool.ts"

const LONGEST_TEXT = 2_000

const progressSchema = lazily(() =>
  z.strictObject({
    fraction: leftOut(z.number().min(0).max(1)).describe("How much of the work is done, from 0 to 1."),
    phase: leftOut(z.string().max(LONGEST_TEXT)).describe("What you do now, in a few words."),
    words: leftOut(z.string().max(LONGEST_TEXT)).describe("One sentence for whoever looks."),
    milestone: leftOut(z.boolean()).describe(
      "Set it for the few moments worth keeping: a part is done, or something unexpected was found.",
    ),
  }),
)

/** Does nothing: the input of the call is read where the agent's run follows its calls. */
export function createProgressTool(): Tool {
  return defineTool({
    name: PROGRESS_TOOL,
    background: { mode: "never" },
    description:
      "Says how far you are, for people and agents that look at your task. Call it beside other work, when a step is done.",
    input: progressSchema(),
    isForSubagents: true,
    onCrash: "retry",
    run: async () => "It is shown. Go on.",
  })
}
