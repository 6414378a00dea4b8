import { z } from "zod"
import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { Act } from "../../plugin/context.ts"
import type { ToolReturn, Tool } from "../../plugin/tool.ts"
import { type SessionId, type TaskId, type WorkspaceId, createTaskId } from "../../task/id.ts"
import type { Answers, Operation, RunReference } from "../../task/operation.ts"
import { PLAIN_DETAILS, type TaskDetails, type TaskRecord } from "../../task/record.ts"
import type { CommitOptions } from "../../task/store.ts"
import type { Step } from "../../task/step.ts"
import { MeanwhileError } from "../../base/error.ts"
import { toOrigin } from "../run/active-run.ts"
import { withHops } from "../run/hops.ts"
import { ensureLease, mayAct, toAct } from "../run/ownership.ts"
import { writeInAnyCase } from "../run/write-run.ts"
import type { ExecuteScope, HasActive, HasRedactor, HasStore, StopScope } from "../run/scope.ts"
import { TURN_TOOL, TURN_PLUGIN } from "../tool/tool-source.ts"
import { writeBelow } from "../run/begun-below.ts"
import { enter } from "../run/enter.ts"
import { findHere } from "../run/runs-above.ts"
import { beginRun, toBackgroundPlan } from "../execute/begin-run.ts"

/** Where a turn comes from. */
export interface TurnOrigin {
  readonly session: SessionId
  readonly workspace: WorkspaceId
  /** For a subagent's turn, the task of the call that asked for it. */
  readonly parentTask: TaskId | null
  readonly traceId: string | null
}

/** One claim of a turn, as the conversation that takes it sees it. */
export interface TurnRun {
  readonly taskId: TaskId
  readonly run: number
  readonly origin: TurnOrigin
  readonly signal: AbortSignal
  /** True if an earlier claim of the turn exists: what was done under it is in the log and among the steps. */
  readonly isContinued: boolean
  /** True at a shutdown: unfinished work stays unfinished, and the next claim goes on with it. */
  isHandedBack(): boolean
  /** Why the turn was stopped; null if it was not. */
  stopReason(): string | null
  /** Every effect of the turn begins in it. */
  readonly act: Act
  /** True if an effect may begin now, in the same synchronous stretch. */
  mayAct(): boolean
  steps(): Promise<readonly Step[]>
  /** The metadata that the turn was begun with. */
  metadata(): Promise<JsonObject>
  /** Contract: nothing is written once the turn is another worker's, so one of the operations must name the run. */
  commit<const Operations extends readonly Operation[]>(
    toOperations: (run: RunReference) => Operations,
    options?: CommitOptions,
  ): Promise<Answers<Operations>>
  /** The operations are written in one transaction with the turn's end, whatever end that is. The last call counts. */
  endWith(toOperations: (run: RunReference) => readonly Operation[]): void
  /** Resolves when the end of the turn, or of this claim, is durable. Null when another worker has the turn now. */
  readonly ended: Promise<TaskRecord | null>
}

/** Takes a turn to its end. What it returns is the turn's patch; what it throws fails the turn. */
export type TurnBody = (turn: TurnRun) => Promise<JsonValue | ToolReturn>

export interface TurnStart extends TurnOrigin {
  readonly id?: TaskId
  readonly model: string
  /** One line for people. */
  readonly title: string
  /** No second turn with this key is begun in the workspace. The caller has looked for an earlier one. */
  readonly idempotencyKey?: string | null
  /** Facts that a claim after a crash must know. */
  readonly metadata?: JsonObject
  /** How the record is committed. Default: it waits for a store that is away. */
  readonly whenAway?: CommitOptions["whenAway"]
  /** True: the turn is begun once its record is on disk, because others are told of it. Default false. */
  readonly waitsForDisk?: boolean
  /** Written in one transaction with the turn's own record, before it. */
  readonly operations: readonly Operation[]
}

export type BegunTurn = Pick<TurnRun, "taskId" | "ended">

/**
 * Begins a turn here and now, and runs its body; a turn takes no slot. A crash before the commit: nothing happened, and
 * the message that began the turn was never told. After it: the turn is in the store, and the worker that takes it from
 * the queue continues it.
 */
export async function beginTurn(scope: ExecuteScope, start: TurnStart, body: TurnBody): Promise<BegunTurn> {
  const above = findHere(scope, start.parentTask)
  return enter(scope, async () => {
    const { tool } = scope.tools.find(TURN_TOOL, TURN_PLUGIN)
    const details = await toTurnDetails(scope, start)
    await ensureLease(scope)
    // The turn's first effect, its end and every answer of the model wait for the disk, and so for this commit.
    const { waitsForDisk = false, whenAway } = start
    const options = { waitsForDisk, ...(whenAway && { whenAway }) }
    const toCreation = (placed: TaskDetails) => {
      const entry = { as: "running", worker: scope.worker.id } as const
      return [...start.operations, { op: "task.create", details: placed, entry }] as const
    }
    const { task } = await writeBelow(scope, above, details, toCreation, options)
    const own: Tool = { ...tool, run: async (_input, { taskId }) => body(findTurnRun(scope, taskId)) }
    const plan = toBackgroundPlan(task, own, null)
    // In this process the turn is below its call, which may have no record.
    const active = beginRun(scope, { ...plan, origin: { ...plan.origin, parentTask: start.parentTask } })
    return { taskId: task.id, ended: active.ended.promise }
  })
}

/**
 * The tool that a turn's record names. Its input is the conversation itself. A turn that begins here brings its own body;
 * this one continues a turn that was taken from the queue.
 */
export function createTurnTool(scope: () => StopScope, continueTurn: TurnBody): Tool {
  const tool: Omit<Tool, "kind"> & { readonly kind: "turn" } = {
    name: TURN_TOOL,
    description: "A turn of a conversation.",
    kind: "turn",
    input: z.unknown(),
    onCrash: "retry",
    run: async (_input, { taskId }) => continueTurn(findTurnRun(scope(), taskId)),
  }
  return tool as unknown as Tool
}

/** The turn that runs here under this id. */
function findTurnRun(scope: StopScope, taskId: TaskId): TurnRun {
  const active = scope.active.get(taskId)
  if (!active) throw new MeanwhileError("wrong_state", `The turn ${taskId} does not run here.`)
  const { run, standing } = active
  const { session, workspace, traceId, parentTask } = active.origin
  if (!session) throw new MeanwhileError("wrong_state", `The turn ${taskId} has no session.`)
  const isContinued = standing.in === "background" && standing.fence > 1
  return {
    taskId,
    run,
    origin: { session, workspace, parentTask, traceId },
    signal: active.control.abort.signal,
    isContinued,
    isHandedBack: () => active.control.isHandedBack,
    stopReason: () => active.control.stop?.reason ?? null,
    act: toAct(scope, active),
    mayAct: () => mayAct(scope, active),
    steps: () => scope.store.steps(taskId, run),
    metadata: async () => (await scope.store.task(taskId))?.metadata ?? {},
    async commit(toOperations, options) {
      const answers = await writeInAnyCase(scope, active, toOperations, options)
      if (!answers) throw new MeanwhileError("wrong_state", `The turn ${taskId} has no record.`)
      return answers
    },
    endWith(toOperations) {
      active.turn.endOperations = toOperations
    },
    ended: active.ended.promise,
  }
}

/** A turn is as deep as the call that asks for it: what its own calls start is one deeper. */
async function toTurnDetails(scope: HasStore & HasRedactor & HasActive, start: TurnStart): Promise<TaskDetails> {
  const { id = createTaskId(), session, workspace, model, title, parentTask, traceId } = start
  const { idempotencyKey = null, metadata = {} } = start
  const caller = parentTask ? scope.active.get(parentTask) : undefined
  const task = parentTask && !caller ? await scope.store.task(parentTask) : undefined
  const parent = caller?.origin ?? (task && toOrigin(task))
  if (parent && parent.workspace !== workspace) {
    throw new MeanwhileError("not_found", `There is no parent task ${parentTask} in this workspace.`, { parentTask })
  }
  return {
    ...PLAIN_DETAILS,
    id,
    workspace,
    session,
    parentTask,
    kind: "turn",
    plugin: TURN_PLUGIN,
    tool: TURN_TOOL,
    model,
    title: scope.redactor.redactText(title),
    input: null,
    metadata: withHops(metadata, parent?.hops ?? 0),
    notify: "silent",
    idempotencyKey,
    depth: parent?.depth ?? 0,
    traceId,
  }
}
