import type { GroupRequest } from "../../plugin/group-service.ts"
import type { GroupRecord, GroupState } from "../../task/group.ts"
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
  /** Whether what a `human_gated` group came to is used: a person's to say, so its tool must have effects to ask by. */
  decide(id: string, decision: "apply" | "reject"): Promise<GroupRecord>
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
    decide: (id, decision) => tasks.groups.decide(id, decision, "model", { session }),
  }
}
