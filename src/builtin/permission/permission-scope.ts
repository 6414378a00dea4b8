import type { PersonChannel } from "../../plugin/person-port.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { SessionId } from "../../task/id.ts"
import type { Grant, GrantedCall, Grants } from "./grants.ts"
import type { PermissionPolicy } from "./permission-policy.ts"
import { judgeCall, type Verdict } from "./policy-verdict.ts"
import type { QuestionQueue } from "./question-queue.ts"
import { EFFECTS, type Effect } from "../../plugin/effect.ts"

/** State shared by the parts of the plugin. */
export interface PermissionScope {
  readonly policy: PermissionPolicy
  readonly grants: Grants
  readonly queue: QuestionQueue
  channel(): PersonChannel | null
  autoApproved(): readonly { readonly plugin: string; readonly tool: string }[]
  likenessOf(plugin: string, tool: string, input: unknown): string | undefined
  partsOf(plugin: string, tool: string, input: unknown): readonly unknown[] | null
  redact(text: string): string
}

export interface NamedCall {
  readonly plugin: string
  readonly tool: string
  readonly input: unknown
  readonly definition: Tool
  readonly session: SessionId | null
}

export interface JudgedCall extends NamedCall, GrantedCall {
  readonly parts: readonly unknown[] | null
}

export function toJudgedCall(scope: PermissionScope, call: NamedCall): JudgedCall {
  const { plugin, tool, input, definition } = call
  return {
    ...call,
    effects: effectsOf(definition, input),
    likeness: scope.likenessOf(plugin, tool, input),
    parts: scope.partsOf(plugin, tool, input),
  }
}

/** Asked again before a question is put: an answer to the one before may have settled it. */
export function judge(scope: PermissionScope, call: JudgedCall): Verdict {
  const { plugin, tool, session } = call
  return judgeCall(scope.policy, {
    ...call,
    isGranted: session !== null && scope.grants.covers(session, call),
    isAutoApproved: scope.autoApproved().some((each) => each.plugin === plugin && each.tool === tool),
  })
}

export function addGrant(scope: PermissionScope, call: NamedCall, granted: Grant["scope"]): void {
  if (call.session !== null) scope.grants.add(call.session, { plugin: call.plugin, tool: call.tool, scope: granted })
}

/** A tool that cannot say what a call does is one of which nobody knows. */
function effectsOf({ effects = [] }: Tool, input: unknown): readonly Effect[] {
  if (typeof effects !== "function") return effects
  try {
    const found = effects(input)
    return found.every((effect) => EFFECTS.includes(effect)) ? found : ["unknown"]
  } catch {
    return ["unknown"]
  }
}
