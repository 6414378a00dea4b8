import type { ToolCall } from "../../plugin/task-service.ts"
import { toGivenWorkspace, toOptionalId } from "../../task/given-id.ts"

/** Refuses ids that no record can have. */
export function checkIds({ workspace, session, parentTask, parentMessage, group }: ToolCall): void {
  toGivenWorkspace(workspace)
  toOptionalId("session", session)
  toOptionalId("task", parentTask, "parentTask")
  toOptionalId("message", parentMessage, "parentMessage")
  toOptionalId("group", group)
}
