import { MeanwhileError } from "../../base/error.ts"
import type { JsonValue } from "../../base/json.ts"
import type { GroupId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Requester } from "../../task/stop.ts"
import type { WaitRecord } from "../../task/wait.ts"
import type { FenceScope } from "../run/scope.ts"
import { combineResults } from "./combine-results.ts"
import { GATE_QUESTION } from "../tool/tool-source.ts"
import { readMembers } from "./find-group.ts"

export interface GateAnswer {
  readonly answer: JsonValue
  readonly answeredBy: string
  /** The stopper and the reason, for any answer but yes. */
  readonly refusal: { readonly by: Requester; readonly reason: string }
}

/** The group whose results are asked about; undefined when the wait is another one. */
export function toGatedGroup({ question }: Pick<WaitRecord, "question">): GroupId | undefined {
  if (typeof question !== "object" || question === null || !("group" in question)) return undefined
  return question["kind"] === GATE_QUESTION ? (question["group"] as GroupId) : undefined
}

/**
 * Ends the gate with its answer, in one transaction: with what every member came to when it is yes, cancelled when it
 * is anything else. Nothing of it needs a slot, and dying before it is durable leaves the question open.
 */
export async function answerGate(
  scope: FenceScope,
  { id, taskId, run }: WaitRecord,
  groupId: GroupId,
  { answer, answeredBy, refusal }: GateAnswer,
): Promise<TaskRecord> {
  const { store, worker } = scope
  const answering = { op: "wait.answer", waitId: id, answer, answeredBy } as const
  const reference = { taskId, run }
  if (answer !== true) {
    const event = { type: "task.cancelled", ...refusal, survivors: [], late: null } as const
    const [, refused] = await store.commit([answering, { op: "task.apply", run: reference, event }])
    return refused
  }
  const group = await store.group(groupId)
  if (!group) throw new MeanwhileError("not_found", `There is no group ${groupId} any more.`, { groupId })
  const patch = combineResults(group, await readMembers(scope, groupId))
  const [, , applied] = await store.commit([
    answering,
    { op: "task.apply", run: reference, event: { type: "task.started", worker: worker.id } },
    { op: "task.apply", run: reference, event: { type: "task.completed", patch } },
  ])
  return applied
}
