import { createNewestMap } from "../../base/newest-map.ts"
import type { ModelTool } from "../../plugin/model.ts"
import { meetsModelRequirements } from "../../plugin/registry-state.ts"
import type { Registry } from "../../plugin/registry.ts"
import type { ModelCatalogue } from "./catalogue.ts"
import type { FoundTool } from "../../plugin/tool-index.ts"

export interface ToolSelection {
  /** Names of tools or of plugins; null: all. */
  readonly tools: readonly string[] | null
  readonly model: string
  /** True for a subagent. */
  readonly isBelow: boolean
}

/** A tool of one session: as the model is told of it, and where it is found. */
export interface OfferedTool {
  readonly told: ModelTool
  readonly found: FoundTool
}

/** The exposed tools as sessions offer them to models, cached until the plugins change. */
export interface ToolList {
  offers(choice: ToolSelection): readonly OfferedTool[]
  /** The same tools as requests describe them, without their plugins. The list stays the same while the offers do. */
  toldOf(offers: readonly OfferedTool[]): readonly ModelTool[]
}

/** Bounds the cache, because every session may have its own choice of tools. */
const MOST_CHOICES = 100

export function createToolList(
  registry: Pick<Registry, "tools" | "toolSchemas" | "onChange">,
  catalogue: ModelCatalogue,
): ToolList {
  let all: readonly OfferedTool[] | undefined
  const chosen = createNewestMap<string, readonly OfferedTool[]>(MOST_CHOICES)
  const told = new WeakMap<readonly OfferedTool[], readonly ModelTool[]>()
  registry.onChange(() => {
    all = undefined
    chosen.clear()
  })

  function listAll(): readonly OfferedTool[] {
    const found = new Map(registry.tools().map((one) => [`${one.plugin}/${one.tool.name}`, one]))
    return registry.toolSchemas().flatMap(({ plugin, name, description, inputSchema }) => {
      const tool = found.get(`${plugin}/${name}`)
      return tool ? [{ told: { name, description, inputSchema }, found: tool }] : []
    })
  }

  return {
    offers(choice) {
      const key = JSON.stringify([choice.model, choice.isBelow, choice.tools])
      const known = chosen.get(key)
      if (known) return known
      all ??= listAll()
      const { modalities } = catalogue.factsOf(choice.model)
      const takes = ({ found: { tool } }: OfferedTool): boolean => !tool.shows || modalities.includes(tool.shows)
      const offers = withoutTwins(all.filter((tool) => takes(tool) && isOffered(tool, choice)))
      chosen.set(key, offers)
      return offers
    },
    toldOf(offers) {
      const known = told.get(offers)
      if (known) return known
      const list = offers.map((offered) => offered.told)
      told.set(offers, list)
      return list
    },
  }
}

/**
 * Tools that are only for subagents come with any other tool, because subagents hand back with them. An empty choice stays
 * empty.
 */
function isOffered({ told: { name }, found }: OfferedTool, { tools, model, isBelow }: ToolSelection): boolean {
  const fits = meetsModelRequirements(found.owner.modelRequirements, model)
  if (found.owner.isPrivate) return fits && tools !== null && isNamed(tools, found)
  if (found.tool.isForSubagents) return fits && isBelow && tools?.length !== 0
  return fits && (tools === null || tools.includes(name) || tools.includes(found.plugin))
}

/** A private tool is named by its plugin, or as `plugin/tool`. */
function isNamed(tools: readonly string[], { plugin, tool }: FoundTool): boolean {
  return tools.includes(plugin) || tools.includes(`${plugin}/${tool.name}`)
}

/** A model knows tools by their name alone: of two with one name, the first registered is offered. */
function withoutTwins(tools: readonly OfferedTool[]): readonly OfferedTool[] {
  const first = new Map(tools.toReversed().map((tool) => [tool.told.name, tool]))
  return tools.filter((tool) => first.get(tool.told.name) === tool)
}
