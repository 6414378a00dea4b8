import type { Runtime } from "../../../src/app.ts"
import type { AgentInput } from "../../../src/builtin/subagent/agent-input.ts"
import type { ToolCall } from "../../../src/plugin/task-service.ts"
import type { Session } from "../../../src/session/conversation/session.ts"
import type { TaskRecord } from "../../../src/task/record.ts"

interface Opened {
  readonly runtime: Pick<Runtime, "tasks">
  readonly session: Pick<Session, "id">
}

/** Starts an agent of the profile `worker` in the background. */
export function startAgent(
  { runtime, session }: Opened,
  input: Partial<AgentInput> = {},
  call: Partial<ToolCall> = {},
): Promise<TaskRecord> {
  return runtime.tasks.start({
    tool: "spawn_subagent",
    input: { task: "Work.", profile: "worker", ...input },
    session: session.id,
    ...call,
  })
}

export async function endOf({ runtime }: Pick<Opened, "runtime">, { id }: Pick<TaskRecord, "id">): Promise<TaskRecord> {
  const { task } = await runtime.tasks.result(id, { waitMs: 60_000 })
  return task
}
