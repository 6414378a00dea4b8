import { HANDOVERS } from "../../plugin/agent-request.ts"
import type { BackgroundCall } from "./background-call.ts"

/**
 * The input of an agent that is started by its tool's own name, with the conversation as it stands now: until there is a
 * slot for it the talk may have gone on.
 */
export async function withHandover({ context }: BackgroundCall, input: unknown): Promise<unknown> {
  if (typeof input !== "object" || input === null || "context" in input) return input
  const { handover = "summary", ...rest } = input as { readonly handover?: unknown }
  const mode = HANDOVERS.find((known) => known === handover)
  return mode === undefined ? input : { ...rest, context: await context.sessions.handOver(mode) }
}
