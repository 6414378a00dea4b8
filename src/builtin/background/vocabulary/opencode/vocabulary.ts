import type { Vocabulary } from "../vocabulary.ts"
import { createArtifactTool } from "../artifact-tool.ts"
import { toInstructionText, toPromotionText } from "../vocabulary-text.ts"
import { createChangeTools } from "./change-tools.ts"
import { createReadTools } from "./read-tools.ts"
import { createTaskTool } from "./task-tool.ts"

const LAUNCHES =
  "background_task launches an agent. Those of one message are a batch, and share its batch_id. With `resume` and the id " +
  "of a completed task its agent goes on, with all that was said before."

/** `background_…`: agents in the background, with follow-ups and batches. */
export const createOpencodeVocabulary = (): Vocabulary => ({
  tools: [createTaskTool(), ...createReadTools(), createArtifactTool("background_artifact"), ...createChangeTools()],
  instructions: (capable) =>
    toInstructionText({
      starts: capable.some(({ tool }) => tool.kind === "agent") ? [LAUNCHES] : [],
      waiting: "background_output with `block`",
      commands:
        "background_list and background_output show how things stand, background_cancel stops, background_clear removes " +
        "what has ended.",
    }),
  tellPromoted: (promoted) =>
    toPromotionText(promoted, "background_output shows how far it is, and background_cancel stops it."),
})
