import type { JsonObject } from "../../../src/base/json.ts"
import type { ScriptedCall } from "../../../src/builtin/scripted/script.ts"
import { createGatedTool, type GatedTool } from "../tools.ts"
import { type BackgroundOptions, type OpenBackground, openBackground } from "./open-background.ts"

/** A whole session with the default vocabulary, and the tool `gated`, whose calls end when the test says so. */
export async function openMeanwhile(
  script: Parameters<typeof openBackground>[0],
  options: BackgroundOptions = {},
): Promise<OpenBackground & { readonly gated: GatedTool }> {
  const gated = createGatedTool({ obeys: true })
  const tools = [gated.tool, ...(options.tools ?? [])]
  return { ...(await openBackground(script, { vocabulary: "meanwhile", ...options, tools })), gated }
}

/** Starts `gated` under this name. */
export const start = (name: string, more: JsonObject = {}): ScriptedCall => ({
  tool: "start_task",
  input: { tool: "gated", input: { name }, ...more },
})
