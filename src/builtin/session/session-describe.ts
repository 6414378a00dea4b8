import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import { toDescription } from "./description.ts"
import type { SessionShelf } from "./session-shelf.ts"

const inputSchema = lazily(() =>
  z.strictObject({
    description: z
      .string()
      .describe("One short line, at most 120 characters, that says what the conversation is about."),
  }),
)

export function createSessionDescribe(shelf: Pick<SessionShelf, "setDescription">): Tool {
  return defineTool({
    name: "session_describe",
    description: "Sets the description by which the person finds this conversation again. Call it once when asked to.",
    input: inputSchema(),
    onCrash: "retry",
    async run({ description }, { session }) {
      if (session === null) {
        throw new MeanwhileError("wrong_state", "There is no conversation to describe: session_describe is for a turn.")
      }
      const line = toDescription(description)
      if (line === "") {
        throw new MeanwhileError("invalid_input", "The description is empty. Say in one line what this is about.")
      }
      await shelf.setDescription(session, line)
      return { description: line }
    },
  })
}
