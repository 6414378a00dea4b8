import { isDeepStrictEqual } from "node:util"
import type { AgentRequest } from "../../../plugin/agent-request.ts"
import { type Tool, toPinned } from "../../../plugin/tool.ts"
import { LIVE_STATUSES } from "../../../task/lifecycle.ts"
import type { TaskRecord } from "../../../task/record.ts"
import type { BackgroundCall } from "./background-call.ts"
import type { CapableTool } from "./capable-tool.ts"

const MOST_COMPARED = 100

/** A live task of this conversation that does the same already. One whose input held a secret is never recognised. */
export async function findSameWork(
  { context }: BackgroundCall,
  { plugin, tool }: CapableTool,
  input: unknown,
): Promise<TaskRecord | undefined> {
  const { tasks, session } = context
  const filter = { session, plugin, tool: tool.name, statuses: LIVE_STATUSES }
  const { items } = await tasks.list(filter, { limit: MOST_COMPARED })
  const asked = toComparable(tool, input)
  for (const { id } of items) {
    const { task } = await tasks.get(id)
    if (isDeepStrictEqual(toComparable(tool, task.input), asked)) return task
  }
  return undefined
}

/** With the defaults of the tool, where this process is; of an agent what it is asked to do, whatever is handed over with it. */
function toComparable(tool: Tool, input: unknown): unknown {
  if (tool.kind === "agent") {
    const { task, profile } = input as Partial<AgentRequest>
    return { task, profile }
  }
  const parsed = tool.input.safeParse(input)
  if (!parsed.success) return input
  return toPinned(tool, parsed.data, parsed.data)
}
