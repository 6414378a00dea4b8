import type { Vocabulary } from "../vocabulary.ts"
import { createArtifactTool } from "../artifact-tool.ts"
import { toInstructionText, toPromotionText } from "../vocabulary-text.ts"
import { createChangeTools } from "./change-tools.ts"
import { createReadTools } from "./read-tools.ts"
import { createStartTools } from "./start-tools.ts"

/** The default: few tools, in the words of the glossary. */
export const createMeanwhileVocabulary = (): Vocabulary => ({
  tools: [...createStartTools(), ...createReadTools(), createArtifactTool("read_artifact"), ...createChangeTools()],
  instructions: (capable) =>
    toInstructionText({
      starts: [
        `start_task starts a tool that way.${capable.some(({ tool }) => tool.kind === "agent") ? " start_agent gives a piece of work to another agent." : ""} Tasks that belong together get the same \`group\`, and are told of together.`,
      ],
      waiting: "wait_for",
      commands:
        "get_task and list_tasks show how things stand, cancel_task stops, limit_task changes a time limit, acknowledge says that you know a result.",
    }),
  tellPromoted: (promoted) =>
    toPromotionText(
      promoted,
      "get_task shows how far it is, cancel_task stops it, and wait_for holds your turn for it if you cannot go on without it.",
    ),
})
