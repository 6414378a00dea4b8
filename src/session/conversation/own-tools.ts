import { createHash } from "node:crypto"
import { definePlugin } from "../../plugin/define-plugin.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { Using } from "./scope.ts"
import type { SessionLog } from "../log/session-log.ts"

type Owner = Pick<SessionLog, "id" | "workspace">

/**
 * The plugin of a session's own tools. Its name is the same in every process: the tasks of these tools name it, and run
 * wherever the session was opened with its tools again.
 */
export function toPluginName({ id, workspace }: Owner): string {
  return `session_${createHash("sha256")
    .update(JSON.stringify([workspace, id]))
    .digest("hex")
    .slice(0, 24)}`
}

/** The names of the tools in the list; tools themselves are given to this session alone. */
export async function giveTools(
  { registry }: Using<"registry">,
  session: Owner,
  tools: readonly (string | Tool)[],
): Promise<readonly string[]> {
  const names = tools.filter((tool) => typeof tool === "string")
  const own = tools.filter((tool) => typeof tool !== "string")
  if (own.length === 0) return names
  const name = toPluginName(session)
  const plugin = definePlugin({ kind: "tool", name, isPrivate: true, tools: own })
  if (registry.list({ kind: "tool" }).some((entry) => entry.name === name)) await registry.unregister(name)
  await registry.register(plugin)
  return [...names, name]
}

/** Called when the session is closed here. Calls that run go on; what is queued waits for the session's tools. */
export async function takeTools(
  { registry }: Using<"registry">,
  session: Owner,
  tools: readonly string[] | null,
): Promise<void> {
  const name = tools === null ? undefined : toPluginName(session)
  if (name === undefined || !tools?.includes(name)) return
  if (registry.list({ kind: "tool" }).some((entry) => entry.name === name)) await registry.unregister(name)
}
