import { announce, type RegistryState, toContributors } from "./registry-state.ts"

/** Reads the tools of an exposed plugin again, whose list has changed. */
export function refreshTools(state: RegistryState, name: string): void {
  const registered = state.plugins.get(name)
  if (registered?.exposure !== "full") return
  for (const contributor of toContributors(registered)) {
    state.tools.remove(contributor)
    state.tools.add(contributor)
  }
  announce(state, "plugin.tools_changed", name)
}
