import { EFFECTS, type Effect } from "../../plugin/effect.ts"
import type { Tool } from "../../plugin/tool.ts"

/** A tool that cannot say what a call does is one of which nobody knows. */
export function effectsOf({ effects = [] }: Tool, input: unknown): readonly Effect[] {
  if (typeof effects !== "function") return effects
  try {
    const found = effects(input)
    return found.every((effect) => EFFECTS.includes(effect)) ? found : ["unknown"]
  } catch {
    return ["unknown"]
  }
}
