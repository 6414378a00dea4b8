import { MeanwhileError } from "../../base/error.ts"
import { findNearNames } from "../../base/near-name.ts"
import type { AgentScope } from "../conversation/scope.ts"

export interface ChildToolChoice {
  /** Names of tools or of plugins; null: all the parent has. */
  readonly wanted: readonly string[] | null
  /** Those of the parent; null: all. */
  readonly parents: readonly string[] | null
  /** The child's. */
  readonly model: string
}

/** The tools of a child: never more than its parent has. Names that nobody knows are refused. */
export function toChildTools(scope: AgentScope, choice: ChildToolChoice): readonly string[] | null {
  const { wanted, parents, model } = choice
  if (wanted === null) return parents
  requireKnown(scope, wanted)
  if (parents === null) return wanted
  const allowed = new Set(scope.tools.offers({ tools: parents, model, isBelow: false }).map(({ found }) => found))
  const named = [...allowed].filter(({ tool, plugin }) => wanted.includes(tool.name) || wanted.includes(plugin))
  // A name may also be that of a plugin, or of another plugin's tool: what it would offer must be the parent's too.
  return named
    .map(({ tool }) => tool.name)
    .filter((name) =>
      scope.tools.offers({ tools: [name], model, isBelow: false }).every(({ found }) => allowed.has(found)),
    )
}

function requireKnown({ registry }: AgentScope, wanted: readonly string[]): void {
  const known = new Set(registry.tools().flatMap(({ tool, plugin }) => [tool.name, plugin]))
  const unknown = wanted.filter((name) => !known.has(name))
  if (unknown.length === 0) return
  const near = unknown.flatMap((name) => findNearNames(name, known))
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : "Name tools, or plugins for all of theirs."
  const names = unknown.join(", ")
  throw new MeanwhileError("unknown_tool", `A subagent was to have tools that do not exist: ${names}. ${hint}`, {
    near,
  })
}
