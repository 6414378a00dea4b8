import { toOneLine } from "../../base/one-line.ts"
import type { Behaviour } from "./behaviour.ts"
import type { OfferedTools } from "./offered-tools.ts"
import { shorten } from "./shorten.ts"

const DESCRIPTION_CHARACTERS = 80

/** A command in the background from the start, by the first of the vocabularies' tools that is offered. */
export function startCommand(command: string, offered: OfferedTools): Behaviour | undefined {
  const input = { command }
  if (offered.has("start_task")) return offered.call("start_task", { tool: "run_command", input })
  if (offered.has("startBackgroundTask")) {
    return offered.call("startBackgroundTask", { tool_name: "run_command", arguments: input })
  }
  if (offered.has("tasks.spawn")) {
    return offered.call("tasks.spawn", { mode: "job", tool_name: "run_command", tool_args: input })
  }
  // That vocabulary has agents only: one of them runs the command.
  return offered.has("background_task") ? startAgent(`run \`${command}\``, offered) : undefined
}

/** The same for an agent; without any of them the sentence says which tool is missing. */
export function startAgent(task: string, offered: OfferedTools): Behaviour {
  if (offered.has("background_task")) {
    const description = shorten(toOneLine(task), DESCRIPTION_CHARACTERS)
    return offered.call("background_task", { description, prompt: task })
  }
  if (offered.has("tasks.spawn")) return offered.call("tasks.spawn", { mode: "subagent", query: task })
  return offered.call("start_agent", { task })
}
