import { createNewestMap } from "../../base/newest-map.ts"
import type { ModelTool } from "../../plugin/model.ts"
import { meetsModelRequirements } from "../../plugin/registry-state.ts"
import type { Registry } from "../../plugin/registry.ts"
import type { FoundTool } from "../../plugin/tool-index.ts"

export interface ToolChoice {
  /** Names of tools or of plugins; null: all. */
  readonly tools: readonly string[] | null
  readonly model: string
  /** True for a subagent. */
  readonly isBelow: boolean
}

/** A tool of one session. */
export interface OfferedTool extends ModelTool {
  readonly found: FoundTool
}

/** The exposed tools as sessions offer them to models, cached until the plugins change. */
export interface ToolList {
  offers(choice: ToolChoice): readonly OfferedTool[]
}

/** Bounds the cache, because every session may have its own choice of tools. */
const MOST_CHOICES = 100

export function createToolList(registry: Pick<Registry, "tools" | "toolSchemas" | "onChange">): ToolList {
  let all: readonly OfferedTool[] | undefined
  const chosen = createNewestMap<string, readonly OfferedTool[]>(MOST_CHOICES)
  registry.onChange(() => {
    all = undefined
    chosen.clear()
  })

  function listAll(): readonly OfferedTool[] {
    const found = registry.tools()
    return registry.toolSchemas().flatMap(({ plugin, name, description, inputSchema }) => {
      const tool = found.find((one) => one.plugin === plugin && one.tool.name === name)
      return tool ? [{ name, description, inputSchema, found: tool }] : []
    })
  }

  return {
    offers(choice) {
      const key = JSON.stringify([choice.model, choice.isBelow, choice.tools])
      const known = chosen.get(key)
      if (known) return known
      all ??= listAll()
      const offers = withoutTwins(all.filter((tool) => isOffered(tool, choice)))
      chosen.set(key, offers)
      return offers
    },
  }
}

/**
 * Tools that are only for subagents come with any other tool, because subagents hand back with them. An empty choice stays
 * empty.
 */
function isOffered({ name, found }: OfferedTool, { tools, model, isBelow }: ToolChoice): boolean {
  const fits = meetsModelRequirements(found.owner.modelRequirements, model)
  if (found.tool.isForSubagents) return fits && isBelow && tools?.length !== 0
  return fits && (tools === null || tools.includes(name) || tools.includes(found.plugin))
}

/** A model knows tools by their name alone: of two with one name, the first registered is offered. */
function withoutTwins(tools: readonly OfferedTool[]): readonly OfferedTool[] {
  return tools.filter((tool) => tools.find(({ name }) => name === tool.name) === tool)
}
