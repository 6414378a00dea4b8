import type { Vocabulary } from "../vocabulary.ts"
import { createArtifactTool } from "../artifact-tool.ts"
import { toInstructionText, toPromotionText } from "../vocabulary-text.ts"
import { createGroupTools } from "./group-tools.ts"
import { createSpawnTool } from "./spawn-tool.ts"
import { createTaskTools } from "./task-tools.ts"

/** `tasks.…`: subagents and jobs, in groups that are told of together. */
export const createPenguiflowVocabulary = (): Vocabulary => ({
  tools: [createSpawnTool(), ...createTaskTools(), createArtifactTool("tasks.get_artifact"), ...createGroupTools()],
  instructions: () =>
    toInstructionText({
      starts: [
        "tasks.spawn starts a subagent, or with mode job one tool call. (Your list of tools may show the dot of these " +
          "names as an underscore.) Tasks with the same `group` are told of together, once all of them have ended; the " +
          "group is complete with `group_sealed`, tasks.seal_group, or the end of your turn.",
        "What a human_gated task or group came to is told to you after a person has allowed it.",
      ],
      waiting: "`retain_turn`",
      commands:
        "tasks.list, tasks.get, tasks.list_groups and tasks.get_group show how things stand, tasks.cancel and " +
        "tasks.cancel_group stop, tasks.acknowledge_background says that you have used a result.",
    }),
  tellPromoted: (promoted) => toPromotionText(promoted, "tasks.get shows how far it is, and tasks.cancel stops it."),
})
