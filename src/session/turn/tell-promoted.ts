import { toErrorMessage } from "../../base/error.ts"
import type { PromotedAnswer } from "../../plugin/tool-hooks.ts"
import { offeredTools } from "../conversation/context.ts"
import type { TurnScope } from "./turn-scope.ts"

/** In the words of a plugin whose tools this session is offered; undefined when none has any. */
export function tellPromoted({ agents, conversation }: TurnScope, promoted: PromotedAnswer): string | undefined {
  for (const teller of agents.registry.promotionTellers()) {
    const isOffered = offeredTools(agents, conversation).some(({ found }) => found.plugin === teller.plugin)
    if (!isOffered) continue
    try {
      const text = teller.tellPromoted(promoted)
      if (text !== undefined) return text
    } catch (error) {
      // The task goes on, whatever becomes of the words for it.
      agents.log.warn("a plugin failed to tell of a promoted call", { error: toErrorMessage(error) })
    }
  }
  return undefined
}
