import { isAbsolute } from "node:path"
import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { FINISH_TOOL, PROGRESS_TOOL } from "../../plugin/agent-request.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import { showModel, defineTool, type Tool } from "../../plugin/tool.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { type Profile, profileSchema } from "./profile.ts"
import { createProfileCollection, type ProfileCollection } from "./profile-collection.ts"
import { createFinishTool } from "./finish-tool.ts"
import { createProgressTool } from "./progress-tool.ts"
import { createSpawnSubagent } from "./spawn-subagent.ts"
import type { FoundProfiles } from "./profile-folder.ts"

export interface SubagentPluginOptions {
  /** Absolute folders of `*.md` profiles. Of two profiles with one name the first counts. A missing folder is empty. */
  readonly directories?: readonly string[]
  /** Profiles that go before those of the folders. */
  readonly profiles?: readonly Profile[]
}

const INSTRUCTIONS =
  "Work that can be done apart from this conversation can be given to a subagent with spawn_subagent. It sees " +
  "the task, what you hand over and, unless you say otherwise, this conversation in short. list_subagent_profiles shows which kinds there are."

/** Agents below agents: sessions of the same runtime that do one piece of work each. */
export function createSubagentPlugin({ directories = [], profiles = [] }: SubagentPluginOptions = {}): ToolPlugin {
  for (const directory of directories) {
    if (isAbsolute(directory)) continue
    const message = `The subagent plugin takes absolute directories only, not "${directory}".`
    throw new MeanwhileError("invalid_input", message, { directory })
  }
  const collection = createProfileCollection(profiles.map(checkProfile), directories)
  return defineBuiltin({
    kind: "tool",
    name: "subagent",
    systemInstructions: INSTRUCTIONS,
    tools: [
      createSpawnSubagent(collection),
      createListProfiles(collection, directories),
      createFinishTool(),
      createProgressTool(),
    ],
    autoApprovedTools: ["list_subagent_profiles", FINISH_TOOL, PROGRESS_TOOL],
    userCommands: [
      {
        name: "profiles",
        description: "list the profiles of subagents",
        run: async () => listAsText(await collection.load(), directories),
      },
    ],
  })
}

function checkProfile(profile: Profile): Profile {
  const parsed = profileSchema().safeParse(profile)
  if (parsed.success) return parsed.data
  const message = `The profile ${JSON.stringify(profile.name)} is not well formed.\n${z.prettifyError(parsed.error)}`
  throw new MeanwhileError("invalid_input", message)
}

function createListProfiles(collection: ProfileCollection, directories: readonly string[]): Tool {
  return defineTool({
    name: "list_subagent_profiles",
    background: { mode: "never" },
    description: "Lists the profiles that spawn_subagent takes, with what each is for, its model and its tools.",
    input: z.strictObject({}),
    onCrash: "retry",
    run: async () => {
      const found = await collection.load()
      return showModel(
        [{ type: "text", text: listAsText(found, directories) }],
        `there are ${found.profiles.length} profiles`,
      )
    },
  })
}

/** The profiles as a list for the model and the person alike. */
function listAsText({ profiles, problems }: FoundProfiles, [folder]: readonly string[]): string {
  const way = folder === undefined ? "" : ` To add one, write its instructions into a file NAME.md in ${folder}.`
  const lines = profiles.length > 0 ? profiles.map(toLine) : [`There are no profiles.${way}`]
  const broken = problems.map((problem) => `- ${problem}`)
  return [...lines, ...(broken.length > 0 ? ["These cannot be used:", ...broken] : [])].join("\n")
}

function toLine({ name, description, model, tools }: Profile): string {
  const having = tools && `tools: ${tools.join(", ") || "none"}`
  const facts = [model && `model: ${model}`, having].filter((fact) => fact !== undefined)
  return `- ${name}: ${description}${facts.length > 0 ? ` (${facts.join("; ")})` : ""}`
}
