import { toErrorMessage } from "../../base/error.ts"
import { toGrantChoice } from "./grant-choice.ts"
import { toQuestion } from "./permission-question.ts"
import type { PermissionDecision, PermissionRequest } from "../../plugin/permission-request.ts"
import { addGrant, type JudgedCall, judge, type PermissionScope, toJudgedCall } from "./permission-scope.ts"
import type { Verdict } from "./policy-verdict.ts"

const ALLOWED: PermissionDecision = { allowed: true }

/** Answers at once unless a person has to be asked. */
export function decideCall(
  scope: PermissionScope,
  request: PermissionRequest,
): PermissionDecision | Promise<PermissionDecision> {
  const { plugin, tool, input, definition, call } = request
  const judged = toJudgedCall(scope, { plugin, tool, input, definition, session: call.session ?? null })
  const verdict = judge(scope, judged)
  return toSettled(verdict) ?? askPerson(scope, judged, verdict, request)
}

function toSettled(verdict: Verdict): PermissionDecision | undefined {
  if (verdict.decision === "allow") return ALLOWED
  return verdict.decision === "deny" ? { allowed: false, reason: verdict.reason } : undefined
}

async function askPerson(
  scope: PermissionScope,
  call: JudgedCall,
  verdict: Verdict,
  request: PermissionRequest,
): Promise<PermissionDecision> {
  const reason = verdict.decision === "ask" ? verdict.reason : undefined
  const question = await toQuestion({ ...call, ...(reason !== undefined && { reason }) }, (text) => scope.redact(text))
  const { approvalExpirySeconds: seconds } = scope.policy
  const inbox: PermissionDecision = {
    allowed: "ask",
    question,
    expiresInMs: seconds === null ? null : Math.round(seconds * 1000),
  }
  if (!scope.channel() || (await request.isInBackground())) return inbox
  const { signal } = request
  try {
    await request.beforeAsking()
    return await scope.queue.take(signal, async () => {
      const channel = scope.channel()
      const settled = toSettled(judge(scope, call))
      if (settled || !channel) return settled ?? inbox
      const choice = toGrantChoice(question, call, call.session !== null)
      const chosen = choice.read(await channel.ask(choice.question, signal))
      if (!chosen.isAllowed) return { allowed: false, reason: chosen.reason }
      if (chosen.grant) addGrant(scope, call, chosen.grant)
      return ALLOWED
    })
  } catch (error) {
    if (signal.aborted) return { allowed: false, reason: "the call was withdrawn before anybody answered" }
    return { allowed: false, reason: `nobody could be asked: ${toErrorMessage(error)}` }
  }
}
