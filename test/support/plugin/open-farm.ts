import { createManualClock, type ManualClock } from "../../../src/base/manual-clock.ts"
import type { Script, ScriptStep } from "../../../src/builtin/scripted/script.ts"
import { type BackgroundOptions, call, type OpenBackground, openBackground } from "../background/open-background.ts"
import { createRenderFarm, type RenderFarm } from "../render-farm.ts"

export interface OpenFarm extends OpenBackground {
  readonly farm: RenderFarm
  readonly clock: ManualClock
}

/** A whole session in the `jaato` vocabulary, with a client of a farm that renders elsewhere. */
export async function openFarm(
  script: Script,
  behaviour: Parameters<RenderFarm["connect"]>[0] = {},
  options: BackgroundOptions = {},
): Promise<OpenFarm> {
  const farm = createRenderFarm()
  const clock = createManualClock()
  const agent = await openBackground(script, { clock, plugins: [farm.connect(behaviour)], ...options })
  return { ...agent, farm, clock }
}

/** Starts a task that renders. */
export const startRender = (more: { readonly timeout_seconds?: number } = {}): ScriptStep =>
  call("startBackgroundTask", { plugin_name: "farm", tool_name: "render", arguments: { scene: "dawn" }, ...more })
