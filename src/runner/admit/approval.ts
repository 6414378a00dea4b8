import { MeanwhileError } from "../../base/error.ts"
import { toJson } from "../../base/json.ts"
import { createWaitId } from "../../task/id.ts"
import type { Wait } from "../../task/wait.ts"
import type { HasClock, HasRedactor } from "../run/scope.ts"
import { redactQuestion } from "../redaction/redact-question.ts"
import type { Admitted } from "./details.ts"
import type { Approval } from "./permission.ts"

/** Marks the question whether a call may run, so that its answer is understood. */
export const ADMISSION_QUESTION = "may_it_run"

/** The wait in which the call's task is created. */
export function toApprovalWait(scope: HasClock & HasRedactor, { question, expiresInMs }: Approval): Wait {
  return {
    id: createWaitId(),
    reason: "approval",
    question: toJson({ ...redactQuestion(scope.redactor, question), kind: ADMISSION_QUESTION }),
    expiresAt: expiresInMs === null ? null : scope.clock.now() + Math.ceil(expiresInMs),
    onExpiry: false,
  }
}

/** Refuses a call that cannot wait for a person: work that already runs, or a resumed agent. */
export function requireNoApproval({ approval, tool }: Admitted): void {
  if (!approval) return
  const message = `${tool.name} needs the approval of a person, and nobody can be asked here.`
  throw new MeanwhileError("permission_denied", message, { tool: tool.name })
}
