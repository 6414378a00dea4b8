import type { JsonObject } from "../../base/json.ts"
import { createTaskId, type SessionId, type TaskId, type WorkspaceId } from "../../task/id.ts"
import type { Operation } from "../../task/operation.ts"
import type { TaskDetails, TaskRecord } from "../../task/record.ts"
import { MeanwhileError } from "../../base/error.ts"
import { enter } from "../run/enter.ts"
import { hopsOf, withHops } from "../limits/hops.ts"
import { beginRun, toBackgroundPlan } from "../execute/begin-run.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { ExecuteScope, HasActive, HasRedactor, HasStore } from "../run/scope.ts"
import { findTurnRun, type TurnBody } from "./turn-run.ts"
import { withAsker } from "./turn-asker.ts"
import { endWithChildren } from "./turn-children.ts"
import { TURN_PLUGIN, TURN_TOOL } from "../tool/runtime-tools.ts"

export interface TurnStart {
  readonly id?: TaskId
  readonly session: SessionId
  readonly workspace: WorkspaceId
  readonly model: string
  /** One line for people. */
  readonly title: string
  /** The task of the call that asks, of a subagent's turn. */
  readonly parentTask: TaskId | null
  readonly traceId: string | null
  /** No second turn of that name is begun in the workspace. The caller has looked for one. */
  readonly idempotencyKey?: string | null
  /** Facts that a claim after a crash must know. */
  readonly metadata?: JsonObject
  /** Written in one transaction with the turn's own record, before it. */
  readonly operations: readonly Operation[]
}

export interface BegunTurn {
  readonly taskId: TaskId
  /** Resolves when its end is durable; null when another worker has it now. */
  readonly ended: Promise<TaskRecord | null>
}

/**
 * Begins a turn here and now, and runs its body; it takes no slot. Dying before the commit: nothing happened, the
 * message that began it was never told. After it: the turn is in the store, and the worker that takes it from the queue
 * continues it.
 */
export async function beginTurn(scope: ExecuteScope, start: TurnStart, body: TurnBody): Promise<BegunTurn> {
  return enter(scope, async () => {
    const { tool } = scope.tools.find(TURN_TOOL, TURN_PLUGIN)
    const details = await toTurnDetails(scope, start)
    const create = { op: "task.create", details, entry: { as: "running", worker: scope.worker.id } } as const
    // Its first effect, its end and every answer of the model wait for the disk, and so for this.
    const answers = await scope.store.commit([...start.operations, create], { waitsForDisk: false })
    const { task } = answers.at(-1) as { readonly task: TaskRecord }
    const own: Tool = { ...tool, run: async (_input, { taskId }) => body(findTurnRun(scope, taskId)) }
    const active = beginRun(scope, toBackgroundPlan(task, own, null))
    return { taskId: task.id, ended: endWithChildren(scope, active) }
  })
}

/** A turn is as deep as the call that asks for it: what its own calls start is one deeper. */
async function toTurnDetails(scope: HasStore & HasRedactor & HasActive, start: TurnStart): Promise<TaskDetails> {
  const { id = createTaskId(), session, workspace, model, title, parentTask, traceId } = start
  const { idempotencyKey = null, metadata = {} } = start
  const parent = parentTask && (scope.active.get(parentTask) ?? (await scope.store.task(parentTask)))
  if (parent && parent.workspace !== workspace) {
    throw new MeanwhileError("not_found", `There is no parent task ${parentTask} in this workspace.`, { parentTask })
  }
  return {
    id,
    workspace,
    session,
    parentTask,
    parentMessage: null,
    batch: null,
    group: null,
    kind: "turn",
    plugin: TURN_PLUGIN,
    tool: TURN_TOOL,
    model,
    folder: null,
    title: scope.redactor.redactText(title),
    input: null,
    inputHeldBy: null,
    metadata: withAsker(withHops(metadata, parent ? hopsOf(parent) : 0), parent),
    lifetime: "runtime",
    priority: 0,
    notify: "silent",
    limits: { timeoutMs: null, tokens: null, costMicros: null, outputBytes: null },
    idempotencyKey,
    askedBy: null,
    depth: parent ? parent.depth : 0,
    traceId,
  }
}
