import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import type { Tool } from "../../plugin/tool.ts"
import { QUESTION_TOOL } from "../tool/turn-name.ts"

/** What the record of a question names as its tool. Its answer ends it: there is nothing to run. */
export const questionTool: Tool = {
  name: QUESTION_TOOL,
  description: "A question to a person.",
  input: z.unknown(),
  background: { mode: "always" },
  async run() {
    const message = "A question is not asked again by itself: whoever needs the answer asks it."
    throw new MeanwhileError("wrong_state", message)
  },
}
