import type { GroupRequest } from "../../plugin/group-service.ts"
import type { GroupRecord, GroupState } from "../../task/group.ts"
import type { Wait } from "../../task/wait.ts"
import type { BackgroundCall } from "./background-call.ts"

/** The groups of this conversation, by name or id. */
export interface GroupOperations {
  open(request: Omit<GroupRequest, "workspace" | "session">): Promise<GroupRecord>
  get(id: string): Promise<GroupRecord>
  /** Newest first. */
  list(states?: readonly GroupState[]): Promise<readonly GroupRecord[]>
  seal(id: string): Promise<GroupRecord>
  /** Stops its live members, and releases whoever waits for it. */
  cancel(id: string, reason?: string): Promise<GroupRecord>
  /** What a person is asked about a `human_gated` group. */
  gate(id: string): Promise<Wait>
  /** Whether what such a group came to is used. `apply` only with the word of the person whose name is given. */
  decide(id: string, decision: "apply" | "reject", by?: string): Promise<GroupRecord>
}

export function createGroupOperations({ context }: BackgroundCall): GroupOperations {
  const { session, tasks } = context
  return {
    open: (request) => tasks.groups.open({ ...request, session }),
    get: (id) => tasks.groups.get(id, { session }),
    list: (states) => tasks.groups.list({ session, ...(states && { states }) }),
    seal: (id) => tasks.groups.seal(id, { session }),
    cancel: (id, reason = "the agent cancelled its group") =>
      tasks.groups.cancel(id, { by: "model", reason }, { session }),
    gate: (id) => tasks.groups.gate(id, { session }),
    decide: (id, decision, by = "model") => tasks.groups.decide(id, decision, by, { session }),
  }
}
