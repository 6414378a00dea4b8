import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { ToolReturn, Tool } from "../../plugin/tool.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import type { Operation, RunReference } from "../../task/operation.ts"
import type { Answers } from "../../task/operation-answer.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Usage } from "../../task/progress.ts"
import type { CommitOptions } from "../../task/store.ts"
import type { Step } from "../../task/step.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { requireOwned, writeUnderFence } from "../run/ownership.ts"
import { reportUsage } from "../run/running-notes.ts"
import type { StopScope } from "../run/scope.ts"
import { z } from "zod"
import { TURN_TOOL } from "../tool/runtime-tools.ts"

/** One claim of a turn, as the conversation that takes it sees it. */
export interface TurnRun {
  readonly taskId: TaskId
  readonly run: number
  readonly session: SessionId
  readonly workspace: WorkspaceId
  readonly signal: AbortSignal
  readonly traceId: string | null
  /** The task of the call that asked for it, of a subagent's turn. */
  readonly parentTask: TaskId | null
  /** Somebody had it before and is gone: what they did is in the log and among the steps. */
  readonly isContinued: boolean
  /** At a shutdown: what is unfinished stays so, and the next claim goes on with it. */
  isHandedBack(): boolean
  /** Why it was stopped; null unless it was. */
  stopReason(): string | null
  /** Directly before an effect: refused as `stale_claim` when the turn is another worker's. */
  requireOwned(): Promise<void>
  steps(): Promise<readonly Step[]>
  /** As it was begun with. */
  metadata(): Promise<JsonObject>
  /** Contract: nothing is written once the turn is another worker's, so one of the operations must name the run. */
  commit<const Operations extends readonly Operation[]>(
    toOperations: (run: RunReference) => Operations,
    options?: CommitOptions,
  ): Promise<Answers<Operations>>
  /** Written in one transaction with the turn's end, whatever that is. The last one given counts. */
  endWith(toOperations: (run: RunReference) => readonly Operation[]): void
  spend(usage: Partial<Usage>): void
  /** Resolves when its end is durable, or that of this claim; null when another worker has it now. */
  readonly ended: Promise<TaskRecord | null>
}

/** Takes a turn to its end. What it returns is the turn's patch; what it throws fails the turn. */
export type TurnBody = (turn: TurnRun) => Promise<JsonValue | ToolReturn>

/** The turn that runs here under this id. */
export function findTurnRun(scope: StopScope, taskId: TaskId): TurnRun {
  const active = scope.active.get(taskId)
  if (!active) throw new MeanwhileError("wrong_state", `The turn ${taskId} does not run here.`)
  return createTurnRun(scope, active)
}

function createTurnRun(scope: StopScope, active: ActiveRun): TurnRun {
  const { taskId, run, session, workspace, standing, traceId, parentTask } = active
  if (!session) throw new MeanwhileError("wrong_state", `The turn ${taskId} has no session.`)
  const isContinued = standing.in === "background" && standing.fence > 1
  return {
    taskId,
    run,
    session,
    workspace,
    signal: active.abort.signal,
    traceId,
    parentTask,
    isContinued,
    isHandedBack: () => active.isHandedBack,
    stopReason: () => active.stop?.reason ?? null,
    requireOwned: () => requireOwned(scope, active),
    steps: () => scope.store.steps(taskId, run),
    metadata: async () => (await scope.store.task(taskId))?.metadata ?? {},
    async commit(toOperations, options) {
      const answers = await writeUnderFence(scope, active, toOperations, options)
      if (!answers) throw new MeanwhileError("wrong_state", `The turn ${taskId} has no record.`)
      return answers
    },
    endWith(toOperations) {
      active.endOperations = toOperations
    },
    spend: (usage) => reportUsage(scope, active, usage),
    ended: active.ended.promise,
  }
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
