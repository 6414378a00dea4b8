import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import { type JsonObject, type JsonValue, toJson } from "../../base/json.ts"
import { isToolReturn, type ToolReturn } from "../../plugin/tool.ts"
import type { TaskFailure } from "../../task/event.ts"
import { type Patch, toPatch } from "../../task/patch.ts"
import type { Redactor } from "../redaction/redactor.ts"

/** How the work of a run came out, if nobody stopped it. */
export type Outcome =
  | { readonly succeeded: true; readonly patch: Patch }
  | { readonly succeeded: false; readonly failure: TaskFailure; readonly patch: Patch | null }

export function toOutcome(redactor: Redactor, returned: JsonValue | ToolReturn | undefined): Outcome {
  const value = returned ?? null
  if (!isToolReturn(value)) return { succeeded: true, patch: toPatch(redactor.redactJson(toJson(value)).value) }
  if ("patch" in value) return { succeeded: true, patch: redactPatch(redactor, value.patch) }
  const { code, message } = value.failure
  const failure = { code: redactor.redactText(code), message: redactor.redactText(message), details: {} }
  return { succeeded: false, failure, patch: toPatch(redactor.redactJson(toJson(value.payload)).value) }
}

export function toFailedOutcome(redactor: Redactor, error: unknown): Extract<Outcome, { succeeded: false }> {
  const code = isMeanwhileError(error) ? error.code : "tool_error"
  const failure = { code, message: redactor.redactText(toErrorMessage(error)), details: {} }
  return { succeeded: false, failure, patch: null }
}

function redactPatch(redactor: Redactor, patch: Patch): Patch {
  return {
    digest: patch.digest.map((line) => redactor.redactText(line)),
    facts: redactor.redactJson(toJson({ ...patch.facts })).value as JsonObject,
    artifacts: patch.artifacts.map((artifact) => ({ ...artifact, name: redactor.redactText(artifact.name) })),
    nextSteps: patch.nextSteps.map((line) => redactor.redactText(line)),
    payload: redactor.redactJson(toJson(patch.payload)).value,
  }
}
