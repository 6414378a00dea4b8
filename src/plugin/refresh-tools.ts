import { type BackgroundCapable, runsElsewhere } from "./background-capable.ts"
import { carryTools } from "./carried-tools.ts"
import { announce, inTurn, type RegisteredPlugin, type RegistryState, toContributors } from "./registry-state.ts"
import type { Tool } from "./tool.ts"
import type { ContributingPlugin } from "./tool-index.ts"

/**
 * Reads the tools of an exposed plugin again, whose list has changed. One that runs its work elsewhere is asked first.
 */
export function refreshTools(state: RegistryState, name: string): void {
  const registered = state.plugins.get(name)
  if (registered?.exposure !== "full") return
  for (const contributor of toContributors(registered)) {
    if (!runsElsewhere(contributor)) replaceTools(state, contributor, contributor.tools ?? [])
    else void askAgain(state, registered, contributor)
  }
}

/** A plugin that cannot list its tools now keeps its earlier ones. */
async function askAgain(
  state: RegistryState,
  registered: RegisteredPlugin,
  contributor: ContributingPlugin & BackgroundCapable,
): Promise<void> {
  await inTurn(registered, async () => {
    if (registered.exposure !== "full") return
    replaceTools(state, contributor, await carryTools(contributor))
  }).catch(() => undefined)
}

function replaceTools(state: RegistryState, contributor: ContributingPlugin, tools: readonly Tool[]): void {
  state.tools.remove(contributor)
  state.tools.add(contributor, tools)
  announce(state, "plugin.tools_changed", contributor.name)
}
