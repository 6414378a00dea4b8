import { z } from "zod"
import { defined } from "../../base/defined.ts"
import { lazily } from "../../base/lazily.ts"
import { toOneLine } from "../../base/one-line.ts"
import { type AgentRequest, type Handover, HANDOVERS } from "../../plugin/agent-request.ts"
import type { SessionId } from "../../task/id.ts"
import { leftOut } from "../../plugin/left-out.ts"

const LONGEST_TEXT = 128 * 1024

const budgetSchema = lazily(() => {
  const most = z.number().int().positive()
  return z
    .strictObject({
      tokens: leftOut(most),
      costMicros: leftOut(most).describe("Millionths of a US dollar."),
      timeMs: leftOut(most).describe("Milliseconds of work; time in which it waits for its tasks is not counted."),
    })
    .describe("The agent's budget. When the budget is used up, the agent hands back what it has.")
})

/** The request that every agent takes, and which part of the conversation is handed over by itself. */
export const agentInputSchema = lazily(() => {
  const sessionId = z.string().min(1).max(64) as unknown as z.ZodType<SessionId>
  return z.strictObject({
    task: z.string().trim().min(1).max(LONGEST_TEXT).describe("The complete task: the agent knows nothing else."),
    profile: leftOut(z.string().min(1).max(64)).describe("The name of a profile. Without it, an agent like you."),
    name: leftOut(z.string().overwrite(toOneLine).min(1).max(64)).describe(
      "The name that people see beside the agent's words.",
    ),
    context: leftOut(z.string().max(LONGEST_TEXT)).describe("The part of this conversation that the agent must know."),
    handover: leftOut(z.enum(HANDOVERS)).describe(
      "How much of this conversation the agent sees, as a snapshot. Default: `summary`, or `none` with a `context`.",
    ),
    budget: leftOut(budgetSchema()),
    milestones: leftOut(z.boolean()).describe(
      "Wake you whenever the agent reaches a milestone, and not only when it ends.",
    ),
    resumes: leftOut(sessionId).describe("Set for a follow-up to an agent that has completed. Leave it out."),
  })
})

export interface AgentInput extends AgentRequest {
  readonly handover?: Handover
}

/** A follow-up: the conversation knows the rest. */
export function toFollowUp(
  { name, profile, budget, milestones }: AgentInput,
  prompt: string,
  session: SessionId,
): AgentInput {
  return defined({ task: prompt, resumes: session, name, profile, budget, milestones })
}
