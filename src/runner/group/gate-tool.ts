import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import type { Tool } from "../../plugin/tool.ts"
import { GATE_TOOL } from "../tool/gate-name.ts"

/** What the record of a gate names as its tool. The answer ends it: nothing is applied that nobody said yes to. */
export const gateTool: Tool = {
  name: GATE_TOOL,
  description: "The results of a group that a person is asked about.",
  input: z.unknown(),
  background: { mode: "always" },
  async run() {
    const message = "The results of a group are decided on once. Start its tasks again to have new ones."
    throw new MeanwhileError("wrong_state", message)
  },
}
