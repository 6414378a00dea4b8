import { createPermissionPlugin } from "./builtin/permission/permission-plugin.ts"
import type { PermissionsInput } from "./runtime.ts"
import { commandLikeness } from "./builtin/shell/command-likeness.ts"
import { commandParts } from "./builtin/shell/command-parts.ts"
import type { PersonSwitch } from "./session/person-switch.ts"
import type { Registry } from "./plugin/registry.ts"
import type { ToolPlugin } from "./plugin/tool-plugin.ts"
import type { PermissionDecision } from "./plugin/permission-request.ts"
import type { Permission } from "./runner/admit/permission.ts"
import type { Redactor } from "./runner/redaction/redactor.ts"
import type { SessionId } from "./task/id.ts"

interface PermissionParts {
  readonly plugins: Registry
  readonly person: PersonSwitch
  readonly redactor: Redactor
}

interface RuntimePermission extends Permission {
  /** Null when no policy was given. */
  readonly plugin: ToolPlugin | null
  readonly onChild: (child: SessionId, parent: SessionId) => void
  readonly onClosed: (session: SessionId) => void
}

/** The judge of all calls of a runtime, and the plugin that shows the policy if one was given. */
export function createPermission(
  input: PermissionsInput | undefined,
  { plugins, person, redactor }: PermissionParts,
): RuntimePermission {
  if (input && "decide" in input)
    return { decide: (request) => input.decide(request), onChild: () => {}, onClosed: () => {}, plugin: null }
  const { plugin, permission } = createPermissionPlugin({
    ...(input && { policy: input }),
    channel: () => person.channel(),
    autoApproved: () => plugins.autoApprovedTools(),
    findTool: (tool) => plugins.findTool(tool),
    likenessOf: (owner, tool, call) => (isCommand(owner, tool) ? commandLikeness(call) : undefined),
    partsOf: (owner, tool, call) => (isCommand(owner, tool) ? commandParts(call) : { parts: [call], form: "call" }),
    redact: (text) => redactor.redactShown(text),
  })
  return {
    decide: (request) =>
      request.call.session ? permission.decide(request) : decideOwn(permission.findDenial(request)),
    onChild: (child, parent) => permission.grantParent(child, parent),
    onClosed: (session) => permission.forgetSession(session),
    plugin: input ? plugin : null,
  }
}

function isCommand(plugin: string, tool: string): boolean {
  return plugin === "shell" && tool === "run_command"
}

/**
 * Judges a call of no session, which the program itself made or a person typed: nobody is asked, and a denied call stays
 * denied.
 */
function decideOwn(denial: string | null): PermissionDecision {
  return denial === null ? { allowed: true } : { allowed: false, reason: denial }
}
