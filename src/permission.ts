import { createPermissionPlugin, type PermissionPluginOptions } from "./builtin/permission/permission-plugin.ts"
import type { PersonSwitch } from "./session/person-switch.ts"
import type { Registry } from "./plugin/registry.ts"
import type { ToolPlugin } from "./plugin/tool-plugin.ts"
import type { Permission } from "./runner/call/permission.ts"
import type { Redactor } from "./runner/redaction/redactor.ts"

export type PermissionsInput = NonNullable<PermissionPluginOptions["policy"]> | Permission

interface PermissionParts {
  readonly plugins: Registry
  readonly person: PersonSwitch
  readonly redactor: Redactor
}

/** Who judges the calls of a runtime, and the plugin that shows it when a policy was given. */
export function createPermission(
  input: PermissionsInput | undefined,
  { plugins, person, redactor }: PermissionParts,
): Permission & { readonly plugin: ToolPlugin | null } {
  if (input && "decide" in input) return { decide: (request) => input.decide(request), plugin: null }
  const { plugin, permission } = createPermissionPlugin({
    ...(input && { policy: input }),
    channel: () => person.channel(),
    autoApproved: () => plugins.autoApprovedTools(),
    findTool: (tool) => plugins.findTool(tool),
    redact: (text) => redactor.redactText(text),
  })
  return {
    decide: (request) => (request.call.session ? permission.decide(request) : { allowed: true }),
    plugin: input ? plugin : null,
  }
}
