import type { Profile } from "./profile.ts"
import type { FoundProfiles } from "./profile-folder.ts"

/** The profiles as a list for the model and the person alike. */
export function listAsText({ profiles, problems }: FoundProfiles): string {
  const lines = profiles.length > 0 ? profiles.map(toLine) : ["There are no profiles."]
  const broken = problems.map((problem) => `- ${problem}`)
  return [...lines, ...(broken.length > 0 ? ["These cannot be used:", ...broken] : [])].join("\n")
}

function toLine({ name, description, model, tools }: Profile): string {
  const having = tools && `tools: ${tools.join(", ") || "none"}`
  const facts = [model && `model: ${model}`, having].filter((fact) => fact !== undefined)
  return `- ${name}: ${description}${facts.length > 0 ? ` (${facts.join("; ")})` : ""}`
}
