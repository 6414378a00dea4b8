import { MeanwhileError } from "../../base/error.ts"
import type { SessionId } from "../../task/id.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"

/**
 * Checks depth and fan-out of subagents in sessions that are not kept: their turns are no tasks, so the runner cannot see
 * who is below whom. Reserves a place, and returns a function that gives it back, to be called once the child is open and
 * counts by itself.
 */
export function reserveChildPlace(scope: Using<"children" | "config" | "open">, { log }: Conversation): () => void {
  const { maxAgentDepth, maxAgentFanOut } = scope.config.background
  const depth = levelOf(scope, log.id) + 1
  if (depth > maxAgentDepth) {
    const message = `An agent here would be ${depth} levels deep; at most ${maxAgentDepth} are allowed. Do the work in this agent.`
    throw new MeanwhileError("limit_exceeded", message, { limit: "maxAgentDepth", depth })
  }
  const { coming } = scope.children
  const ownComing = coming.get(log.id) ?? 0
  const siblings = ownComing + [...scope.open.values()].filter((other) => other.log.data.parent === log.id).length
  if (siblings >= maxAgentFanOut) {
    const message = `This agent has ${siblings} live agents; at most ${maxAgentFanOut} are allowed. Wait for one of them to end.`
    throw new MeanwhileError("limit_exceeded", message, { limit: "maxAgentFanOut", siblings })
  }
  coming.set(log.id, ownComing + 1)
  return () => {
    const left = (coming.get(log.id) ?? 1) - 1
    if (left > 0) coming.set(log.id, left)
    else coming.delete(log.id)
  }
}

/** 0 for an agent without a parent. */
function levelOf({ open }: Using<"open">, id: SessionId): number {
  let level = 0
  for (let at = open.get(id)?.log.data.parent; at; at = open.get(at)?.log.data.parent) level += 1
  return level
}
