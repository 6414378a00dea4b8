import { MeanwhileError } from "../../base/error.ts"
import type { GroupRecord } from "../../task/group.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Wait } from "../../task/wait.ts"
import { answerWait } from "./answer-wait.ts"
import type { DetailsScope } from "../admit/scope.ts"
import type { HasClock, HasConfig, HasQueue, HasStore, HasWritten } from "../run/scope.ts"
import { isGated, openGate } from "../group/gate.ts"

/** The first answer counts, whether it came by this or from the inbox. */
export async function decideGate(
  scope: DetailsScope & HasStore & HasClock & HasQueue,
  group: GroupRecord,
  decision: "apply" | "reject",
  by: string,
): Promise<void> {
  const { id } = await requireGate(scope, group)
  await answerWait(scope, id, decision === "apply", by, group.workspace)
}

/** The wait that a person answers. Opened here if the group was joined a moment ago and nobody has opened it yet. */
export async function requireGate(
  scope: HasStore & HasClock & HasConfig & HasWritten,
  group: GroupRecord,
): Promise<Wait> {
  if (!isGated(group)) {
    const standing = group.merge === "human_gated" ? `is ${group.state}` : `merges by ${group.merge}`
    throw wrongState(group, `The group ${group.name} ${standing}: it has no results that wait for a decision.`)
  }
  const gate = await openGate(scope, group)
  if (gate.status !== "waiting") {
    throw wrongState(group, `The results of the group ${group.name} were decided on already: ${toVerdict(gate)}.`)
  }
  return gate.wait
}

function toVerdict(gate: TaskRecord): string {
  return gate.status === "cancelled" ? gate.stop.reason : "they were applied"
}

function wrongState({ id, state }: GroupRecord, message: string): MeanwhileError {
  return new MeanwhileError("wrong_state", message, { groupId: id, state })
}
