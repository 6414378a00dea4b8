import { findNearNames } from "../base/near-name.ts"
import type { PermissionRule } from "../builtin/permission/permission-policy.ts"
import { describe, matchesGlob } from "../builtin/permission/policy-verdict.ts"
import type { Registry } from "../plugin/registry.ts"
import { type PluginEntry, toContributors } from "../plugin/registry-state.ts"

/** Tools of MCP servers come and go with their servers. */
const OF_SERVERS = /^mcp__/

interface KnownTool {
  readonly plugin: string
  readonly tool: string
}

/**
 * The rules about a tool that no plugin has, a sentence for each. Patterns are left out, since they may be about what is
 * not there yet. None where a plugin could not be used: it may have the tool, and is told as skipped.
 */
export function describeUnknownTools(
  rules: readonly PermissionRule[],
  plugins: Pick<Registry, "list" | "skipped" | "tools">,
): readonly string[] {
  if (plugins.skipped().some(({ reason }) => reason !== "model_requirement")) return []
  const exposed = plugins.tools().map(({ plugin, tool }) => ({ plugin, tool: tool.name }))
  const known = [...exposed, ...plugins.list().flatMap(toOwnTools)]
  return rules.flatMap((rule) => {
    if (/[*?]/.test(rule.tool) || OF_SERVERS.test(rule.tool)) return []
    const owners = new Set(known.filter(({ tool }) => tool === rule.tool).map(({ plugin }) => plugin))
    const isThere = [...owners].some((owner) => matchesGlob(rule.plugin ?? "*", owner))
    return isThere ? [] : [describeUnknown(rule, [...owners], known)]
  })
}

/** Also of a plugin that is hidden now. */
function toOwnTools(entry: PluginEntry): readonly KnownTool[] {
  return toContributors(entry).flatMap(({ name, tools = [] }) =>
    tools.map((tool) => ({ plugin: name, tool: tool.name })),
  )
}

function describeUnknown(rule: PermissionRule, owners: readonly string[], known: readonly KnownTool[]): string {
  const { tool, plugin, decision } = rule
  const isLacking = owners.length > 0 ? `${plugin} has no tool ${tool}` : `no tool is called ${tool}`
  const near = findNearNames(
    tool,
    known.map((one) => one.tool),
  )
  const hint =
    owners.length > 0
      ? ` It is a tool of ${owners.join(", ")}.`
      : near.length > 0
        ? ` Did you mean ${near.join(" or ")}?`
        : ""
  return `permissions: ${isLacking}, so the rule \`${decision} ${describe(rule)}\` decides nothing.${hint}`
}
