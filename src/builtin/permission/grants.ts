import { type Effect, EFFECTS } from "../../plugin/effect.ts"
import type { SessionId } from "../../task/id.ts"
import type { PersonChannel } from "../../plugin/person-port.ts"
import type { PermissionRequest } from "../../plugin/permission-request.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { PermissionPolicy } from "./permission-policy.ts"
import { type CallFacts, type CallParts, judgeCall, type Verdict } from "./policy-verdict.ts"
import type { QuestionQueue } from "./question-queue.ts"

/** Grants of a person to a session: every call of a tool, similar calls with at most the same effects, or one call. */
export interface Grant {
  readonly plugin: string
  readonly tool: string
  readonly scope:
    | { readonly kind: "tool" }
    | { readonly kind: "alike"; readonly likeness: string; readonly effects: readonly Effect[] }
    | { readonly kind: "call"; readonly input: string }
}

export type Grants = ReturnType<typeof createGrants>

/** Keeps grants in memory: they end with the session or the process, and a person is asked again. */
export function createGrants() {
  const bySession = new Map<SessionId, readonly Grant[]>()
  const parents = new Map<SessionId, SessionId>()

  /** The session's own grants and those it inherits. */
  function list(session: SessionId): readonly Grant[] {
    const seen = new Set<SessionId>()
    const grants: Grant[] = []
    for (let at: SessionId | undefined = session; at !== undefined && !seen.has(at); at = parents.get(at)) {
      seen.add(at)
      grants.push(...(bySession.get(at) ?? []))
    }
    return grants
  }

  return {
    list,
    add: (session: SessionId, grant: Grant) => void bySession.set(session, [...(bySession.get(session) ?? []), grant]),
    covers: (session: SessionId, call: JudgedCall) => list(session).some((grant) => isCovered(grant, call)),
    /** Drops the session's own grants; returns how many there were. */
    reset(session: SessionId) {
      const count = bySession.get(session)?.length ?? 0
      bySession.delete(session)
      return count
    },
    inherit: (child: SessionId, parent: SessionId) => void parents.set(child, parent),
    /** Called when the session is closed. */
    forget(session: SessionId) {
      bySession.delete(session)
      parents.delete(session)
    },
  }
}

function isCovered({ plugin, tool, scope }: Grant, call: JudgedCall): boolean {
  if (plugin !== call.plugin || tool !== call.tool) return false
  switch (scope.kind) {
    case "tool":
      return true
    case "alike":
      return scope.likeness === call.likeness && call.effects.every((effect) => scope.effects.includes(effect))
    case "call":
      return scope.input === JSON.stringify(call.input)
  }
}

/** The parts of the runtime that the plugin may use. */
export interface PermissionSurroundings {
  /** The person who can be asked now. Without one, calls wait in the inbox. */
  readonly channel: () => PersonChannel | null
  /** Tools that need no permission, as their plugins say. */
  readonly autoApproved: () => readonly { readonly plugin: string; readonly tool: string }[]
  /** The key that calls must share to be allowed together. Undefined: the call is allowed alone. */
  readonly likenessOf: (plugin: string, tool: string, input: unknown) => string | undefined
  /** The calls that one call consists of, such as the commands of a command line. Default: the call itself. */
  readonly partsOf: (plugin: string, tool: string, input: unknown) => CallParts
  /** Takes secrets out of what a person is shown. */
  readonly redact: (text: string) => string
}

/** State shared by the parts of the plugin. */
export interface PermissionScope extends PermissionSurroundings {
  readonly policy: PermissionPolicy
  readonly grants: Grants
  readonly queue: QuestionQueue
}

type NamedCall = Pick<PermissionRequest, "plugin" | "tool" | "input" | "definition">

export interface JudgedCall extends NamedCall, Pick<CallFacts, "effects" | keyof CallParts> {
  readonly session: SessionId | null
  readonly likeness: string | undefined
}

export function toJudgedCall(
  scope: PermissionScope,
  { plugin, tool, input, definition }: NamedCall,
  session: SessionId | null,
): JudgedCall {
  return {
    plugin,
    tool,
    input,
    definition,
    session,
    effects: effectsOf(definition, input),
    likeness: scope.likenessOf(plugin, tool, input),
    ...scope.partsOf(plugin, tool, input),
  }
}

/** Judges a call, and once more before its question is put: the answer to an earlier question may have settled it. */
export function judge(scope: PermissionScope, call: JudgedCall): Verdict {
  const { plugin, tool, session } = call
  return judgeCall(scope.policy, {
    ...call,
    isGranted: session !== null && scope.grants.covers(session, call),
    isAutoApproved: scope.autoApproved().some((each) => each.plugin === plugin && each.tool === tool),
  })
}

export function addGrant({ grants }: PermissionScope, { plugin, tool, session }: JudgedCall, scope: Grant["scope"]) {
  if (session !== null) grants.add(session, { plugin, tool, scope })
}

/** The effects of a call; `unknown` if the tool cannot tell them. */
function effectsOf({ effects = [] }: Tool, input: unknown): readonly Effect[] {
  if (typeof effects !== "function") return effects
  try {
    const found = effects(input)
    return found.every((effect) => EFFECTS.includes(effect)) ? found : ["unknown"]
  } catch {
    return ["unknown"]
  }
}
