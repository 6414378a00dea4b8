import { z } from "zod"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { ToolCall } from "../../plugin/task-service.ts"
import type { Tool } from "../../plugin/tool.ts"
import { decideCall, type PendingCall } from "../../plugin/tool-hooks.ts"
import { DEFAULT_WORKSPACE, type TaskId } from "../../task/id.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { AskingStep, TaskRecord } from "../../task/record.ts"
import { createPermissionRequest, type OnAsked } from "./asked-permission.ts"
import { checkCall } from "./call-check.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { hopsOf } from "../limits/hops.ts"
import { requireOpen } from "../run/enter.ts"
import type { PermissionDecision } from "../../plugin/permission-request.ts"
import type { Approval } from "./permission.ts"
import type { AdmitScope, HasAdmission } from "./scope.ts"
import type { HasActive, HasConfig, HasStore } from "../run/scope.ts"
import { NEVER_WITHDRAWN, type Withdrawal } from "./withdrawal.ts"

const NOBODY_WAITS: OnAsked = async () => {}

/** A call that may run: its tool is known, its input fits, and nobody forbids it. */
export interface Admitted {
  readonly call: ToolCall
  readonly plugin: string
  readonly tool: Tool
  /** As the tool's schema gives it to `run`. */
  readonly input: unknown
  readonly depth: number
  readonly hops: number
  /** A person has to allow it first: it enters as a task that waits. */
  readonly approval?: Approval
  /** Called once the task is written or runs, or will not be: the next one below its parent is let in then. */
  readonly settle?: () => void
}

/**
 * The one place where a call is let in, from every caller. Answers at once unless a hook, permission, the parent or the
 * store must be asked: a call in the foreground pays for nothing it does not need.
 */
export function admit(
  scope: AdmitScope,
  call: ToolCall,
  withdrawal: Withdrawal = NEVER_WITHDRAWN,
  onAsked: OnAsked = NOBODY_WAITS,
): Admitted | Promise<Admitted> {
  requireOpen(scope, call)
  checkCall(call)
  const { plugin, tool } = scope.tools.find(call.tool, call.plugin)
  const input = parseInput(tool, call.input)
  const admitted = { call, plugin, tool, input, depth: 0, hops: call.hops ?? 0 }
  if (scope.tools.hooks().length > 0) return admitWithHooks(scope, admitted, withdrawal, onAsked)
  const decision = decide(scope, admitted, withdrawal, onAsked)
  const isKnown = !call.parentTask && !call.askedBy && !tool.model
  if (!(decision instanceof Promise) && isKnown) return withDecision(admitted, decision)
  return finishAdmission(scope, admitted, decision)
}

/** Hooks may change the input: what permission sees, and what runs, is the changed one. */
async function admitWithHooks(
  scope: AdmitScope,
  admitted: Admitted,
  withdrawal: Withdrawal,
  onAsked: OnAsked,
): Promise<Admitted> {
  const { call, plugin, tool } = admitted
  const decision = await decideCall(scope.tools.hooks(), toPendingCall(call, plugin, tool))
  if (decision.decision === "refuse") return withDecision(admitted, { allowed: false, reason: decision.reason })
  const changed = decision.decision === "change" ? withInput(admitted, decision.input) : admitted
  return finishAdmission(scope, changed, decide(scope, changed, withdrawal, onAsked))
}

function withInput(admitted: Admitted, input: unknown): Admitted {
  return { ...admitted, call: { ...admitted.call, input }, input: parseInput(admitted.tool, input) }
}

export function toPendingCall(call: ToolCall, plugin: string, tool: Tool): PendingCall {
  const { input, workspace = DEFAULT_WORKSPACE, session = null, parentTask = null } = call
  return { plugin, tool: tool.name, input, workspace, session, parentTask }
}

/** Permission that cannot be asked is not given. */
function decide(
  scope: HasStore & HasActive & HasAdmission,
  admitted: Admitted,
  withdrawal: Withdrawal,
  onAsked: OnAsked,
): PermissionDecision | Promise<PermissionDecision> {
  const refuse = (error: unknown): PermissionDecision => ({
    allowed: false,
    reason: `permission could not be asked (${toErrorMessage(error)})`,
  })
  try {
    const decision = scope.admission.permission.decide(createPermissionRequest(scope, admitted, withdrawal, onAsked))
    if (!(decision instanceof Promise)) return decision
    void onAsked().catch(() => {})
    return decision.catch(refuse)
  } catch (error) {
    return refuse(error)
  }
}

async function finishAdmission(
  scope: HasStore & HasConfig & HasActive & HasAdmission,
  asked: Admitted,
  decision: PermissionDecision | Promise<PermissionDecision>,
): Promise<Admitted> {
  const admitted = await withModel(withDecision(asked, await decision))
  const { call, tool } = admitted
  if (call.askedBy) await requireRecord(scope, call.askedBy)
  if (!call.parentTask) return admitted
  const parent = await findParent(scope, call, call.parentTask)
  const depth = parent.depth + 1
  const hops = Math.max(admitted.hops, hopsOf(parent))
  if (tool.kind !== "agent") return { ...admitted, depth, hops }
  const settle = await scope.admission.families.take(call.parentTask)
  try {
    await requireRoomForAgent(scope, call.parentTask, depth)
    return { ...admitted, depth, hops, settle }
  } catch (error) {
    settle()
    throw error
  }
}

/** The model that an agent will use counts against the limit of that model. */
async function withModel(admitted: Admitted): Promise<Admitted> {
  const { call, tool, input } = admitted
  const model = await tool.model?.(input)
  return model === undefined ? admitted : { ...admitted, call: { ...call, model } }
}

export function parseInput(tool: Tool, input: unknown): unknown {
  const parsed = tool.input.safeParse(input)
  if (parsed.success) return parsed.data
  throw new MeanwhileError("invalid_input", describeRefusal(tool.name, parsed.error), { tool: tool.name })
}

/** A tool's own complaint about one argument, for example a missing folder, is shown as it is. */
function describeRefusal(name: string, error: z.ZodError): string {
  const [issue, ...others] = error.issues
  if (issue?.code === "custom" && issue.path.length > 0 && others.length === 0)
    return `The ${issue.path.join(".")} of ${name} cannot be used: ${issue.message}`
  return `The arguments of ${name} are not valid.\n${z.prettifyError(error)}`
}

function withDecision(admitted: Admitted, decision: PermissionDecision): Admitted {
  if (decision.allowed === true) return admitted
  if (decision.allowed === "ask") return { ...admitted, approval: decision }
  const { tool } = admitted
  throw new MeanwhileError("permission_denied", `${tool.name} was not allowed: ${decision.reason}`, { tool: tool.name })
}

/** A step can only be written for a run that the store knows. */
async function requireRecord(scope: HasActive, { taskId }: AskingStep): Promise<void> {
  const active = scope.active.get(taskId)
  if (active?.standing.in === "promotion") await active.standing.written
  if (active?.standing.in !== "foreground") return
  const message = `The call ${taskId} runs in the foreground and has no record: no step of it can ask for a task. Leave \`askedBy\` out, or promote the call first.`
  throw new MeanwhileError("wrong_state", message, { taskId })
}

/** It may be a call in the foreground: the store does not know it yet. */
async function findParent(
  scope: HasStore & HasActive,
  call: ToolCall,
  parentTask: TaskId,
): Promise<ActiveRun | TaskRecord> {
  const parent = scope.active.get(parentTask) ?? (await scope.store.task(parentTask))
  if (parent && parent.workspace === (call.workspace ?? DEFAULT_WORKSPACE)) return parent
  const message = `There is no parent task ${parentTask}. Give the id of a task of the same workspace, or none.`
  throw new MeanwhileError("not_found", message, { parentTask })
}

/** Agents below agents are bounded in depth and number. */
async function requireRoomForAgent(
  scope: HasStore & HasConfig & HasActive,
  parentTask: TaskId,
  depth: number,
): Promise<void> {
  const { maxAgentDepth, maxAgentFanOut } = scope.config
  if (depth > maxAgentDepth) {
    throw new MeanwhileError(
      "limit_exceeded",
      `An agent here would be ${depth} levels deep; at most ${maxAgentDepth} are allowed. Do the work in this agent.`,
      { limit: "maxAgentDepth", depth },
    )
  }
  const siblings = await countAgents(scope, parentTask, maxAgentFanOut)
  if (siblings >= maxAgentFanOut) {
    throw new MeanwhileError(
      "limit_exceeded",
      `This task has ${siblings} live agents; at most ${maxAgentFanOut} are allowed. Wait for one of them to end.`,
      { limit: "maxAgentFanOut", siblings },
    )
  }
}

/** By id: one that is being promoted may be found here and in the store, or here alone. */
async function countAgents(scope: HasStore & HasActive, parentTask: TaskId, enough: number): Promise<number> {
  const here = [...scope.active.values()].filter(
    ({ parentTask: parent, tool, standing }) =>
      parent === parentTask && tool.kind === "agent" && ["foreground", "promotion"].includes(standing.in),
  )
  const filter = { parentTask, kinds: ["agent"], statuses: LIVE_STATUSES } as const
  const { items } = await scope.store.tasks(filter, { limit: enough })
  return new Set([...here.map(({ taskId }) => taskId), ...items.map(({ id }) => id)]).size
}
