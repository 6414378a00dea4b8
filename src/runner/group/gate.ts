import { z } from "zod"
import { shorten } from "../../base/shorten.ts"
import type { TaskView } from "../../plugin/task-service.ts"
import type { GroupRecord } from "../../task/group.ts"
import { createTaskId, createWaitId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { Patch } from "../../task/patch.ts"
import { PLAIN_DETAILS, type TaskDetails, type TaskRecord } from "../../task/record.ts"
import type { Wait } from "../../task/wait.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { TaskStore } from "../../task/store.ts"
import { HOPS, toHops } from "../run/hops.ts"
import type { HasClock, HasConfig, HasStore, HasWritten } from "../run/scope.ts"
import { GATE_PLUGIN, GATE_QUESTION, GATE_TOOL, toGateKey } from "../tool/tool-source.ts"
import { describeResult } from "./combine-results.ts"
import { readMembers } from "./find-group.ts"

const LONGEST_DESCRIPTION = 1_000

/** True if a person must decide whether the results of the group are used. An empty group has no results. */
export function isGated({ merge, state, memberCount }: GroupRecord): boolean {
  return merge === "human_gated" && state === "joined" && memberCount > 0
}

/**
 * The one task that asks a person about all members of a joined group. It is created if there is none yet; callers that
 * ask for it at once get the same task, by its idempotency key. A crash before the commit leaves a joined group without
 * a gate, which the next look finds.
 */
export async function openGate(
  scope: HasStore & HasClock & HasConfig & HasWritten,
  group: GroupRecord,
): Promise<TaskRecord> {
  const known = await findGate(scope.store, group)
  if (known) return known
  scope.written.sessions.note(group.session)
  const members = await readMembers(scope, group.id)
  const entry = { as: "waiting", wait: toWait(scope, group, members) } as const
  const [{ task }] = await scope.store.commit([{ op: "task.create", details: toDetails(group, members), entry }])
  return task
}

function toWait(scope: HasClock & HasConfig, group: GroupRecord, members: readonly TaskRecord[]): Wait {
  const completed = members.filter(({ status }) => status === "completed").length
  const count = members.length === 1 ? "1 task" : `${members.length} tasks`
  return {
    id: createWaitId(),
    reason: "approval",
    question: {
      kind: GATE_QUESTION,
      text: `Use the results of the group ${group.name}? ${completed} of ${count} completed.`,
      detail: members.map((member) => shorten(describeResult(member), LONGEST_DESCRIPTION)).join("\n"),
      options: [true, false],
      group: group.id,
      tasks: members.map(({ id }) => id),
    },
    expiresAt: scope.clock.now() + Math.ceil(scope.config.questionExpirySeconds * 1_000),
    onExpiry: false,
  }
}

/** The gate has the trace of the members, and is as many reports away from a person as they are. */
function toDetails(group: GroupRecord, members: readonly TaskRecord[]): TaskDetails {
  const hops = Math.max(0, ...members.map(({ metadata }) => toHops(metadata)))
  return {
    ...PLAIN_DETAILS,
    id: createTaskId(),
    workspace: group.workspace,
    session: group.session,
    kind: "tool",
    plugin: GATE_PLUGIN,
    tool: GATE_TOOL,
    title: `results of ${group.name}`,
    input: { group: group.id },
    metadata: hops > 0 ? { [HOPS]: hops } : {},
    idempotencyKey: toGateKey(group.id),
    traceId: members[0]?.traceId ?? null,
  }
}

/** The tool that the record of a gate names. The answer ends the task: nothing is applied without a yes. */
export const gateTool = createAnsweredTool(
  GATE_TOOL,
  "The results of a group that a person is asked about.",
  "The results of a group are decided on once. Start its tasks again to have new ones.",
)

/** The tool of a task that ends with its answer: there is nothing to run. */
export function createAnsweredTool(name: string, description: string, refusal: string): Tool {
  const run = () => Promise.reject(new MeanwhileError("wrong_state", refusal))
  return { name, description, input: z.unknown(), background: { mode: "always" }, run }
}

export async function findGate(
  store: TaskStore,
  { id, workspace }: Pick<GroupRecord, "id" | "workspace">,
): Promise<TaskRecord | undefined> {
  const { items } = await store.tasks({ workspace, idempotencyKey: toGateKey(id) }, { limit: 1 })
  return items[0] && store.task(items[0].id)
}

/** Shown in place of a withheld result. */
const WITHHELD: Patch = {
  digest: ["A person decides whether this result is used, and has not said yes."],
  facts: {},
  artifacts: [],
  nextSteps: [],
  payload: null,
}

/** True if a person decides whether the result is used, and has not said yes. */
export async function isWithheld(scope: HasStore, task: TaskRecord): Promise<boolean> {
  if (task.group === null || !isTerminal(task.status)) return false
  const group = await scope.store.group(task.group)
  if (group?.merge !== "human_gated" || group.state === "cancelled") return false
  return (await findGate(scope.store, group))?.status !== "completed"
}

/** The task as a run may see it: a run that asks for a member by its id must not get round the person. */
export async function withhold(scope: HasStore, view: TaskView): Promise<TaskView> {
  const { task } = view
  if (!("patch" in task) || !(await isWithheld(scope, task))) return view
  return { ...view, lastLine: null, task: { ...task, patch: WITHHELD } }
}
