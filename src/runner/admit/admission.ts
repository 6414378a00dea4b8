import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { Answer, CheckedCall, StopRequest, ToolCall } from "../../plugin/task-service.ts"
import type { Tool } from "../../plugin/tool.ts"
import { decideCall, type PendingCall } from "../../plugin/tool-hooks.ts"
import { DEFAULT_WORKSPACE, type TaskId, type WorkspaceId } from "../../task/id.ts"
import type { AskingStep } from "../../task/record.ts"
import type { PermissionDecision, PermissionRequest } from "../../plugin/permission-request.ts"
import { withoutOwnFields } from "../../plugin/input-schema.ts"
import type { RunOrigin } from "../run/active-run.ts"
import type { HasActive, HasLog, HasPorts, HasStore, HasTools } from "../run/scope.ts"
import { requireOpen } from "../run/enter.ts"
import { findHere, findOrigin, isInBackground } from "../run/runs-above.ts"
import { type Admitted, parseInput, checkCall } from "./details.ts"
import { requireRoomForAgent } from "./child-limits.ts"
import type { AdmitScope } from "./scope.ts"

/**
 * The one place where calls are admitted, from every caller. Returns no promise unless a hook, permission, the parent or
 * the store must be asked: a call in the foreground pays for nothing that it does not need.
 */
export function admit(scope: AdmitScope, call: ToolCall, caller: Caller = NOBODY): Admitted | Promise<Admitted> {
  checkCall(call)
  requireOpen(scope, call)
  requireOwnSession(call, findHome(scope, call))
  const { plugin, tool } = scope.tools.find(call.tool, call.plugin)
  const above = findHere(scope, call.parentTask)
  const admitted = { ...withInput(tool, call, call.input), above, plugin, tool, depth: 0, hops: call.hops ?? 0 }
  if (scope.tools.hooks().length > 0) return admitWithHooks(scope, admitted, caller)
  const decision = decide(scope, admitted, caller)
  const isKnown = !call.parentTask && !call.askedBy && !tool.model
  if (!(decision instanceof Promise) && isKnown) return withDecision(admitted, decision)
  return finishAdmission(scope, admitted, decision)
}

/** Hooks may change the input: what permission sees, and what runs, is the changed one. */
async function admitWithHooks(scope: AdmitScope, admitted: Admitted, caller: Caller): Promise<Admitted> {
  const { call, plugin, tool } = admitted
  const decision = await decideCall(scope.tools.hooks(), toPendingCall(call, plugin, tool))
  if (decision.decision === "refuse") return withDecision(admitted, { allowed: false, reason: decision.reason })
  if (decision.decision !== "change") return finishAdmission(scope, admitted, decide(scope, admitted, caller))
  const changed = { ...admitted, ...withInput(tool, call, decision.input) }
  return finishAdmission(scope, changed, decide(scope, changed, caller))
}

/** What the tool sets itself it sets now, whatever the caller says: so what is judged and asked about is what runs. */
function withInput(tool: Tool, call: CheckedCall, given: unknown): Pick<Admitted, "call" | "input"> {
  const own = withoutOwnFields(tool.input, given)
  return { call: own === call.input ? call : { ...call, input: own }, input: parseInput(tool, own) }
}

function toPendingCall(call: CheckedCall, plugin: string, tool: Tool): PendingCall {
  const { input, workspace = DEFAULT_WORKSPACE, session = null, parentTask = null } = call
  return { plugin, tool: tool.name, input, workspace, session, parentTask }
}

/** A failing hook does not change the answer. */
export async function tellHooks(
  scope: HasLog & HasTools,
  { call, plugin, tool }: Admitted,
  answer: Answer,
): Promise<void> {
  for (const hook of scope.tools.hooks()) {
    try {
      await hook.afterToolCall?.(toPendingCall(call, plugin, tool), answer)
    } catch (error) {
      scope.log.warn("a hook failed after a call", { tool: tool.name, error: toErrorMessage(error) })
    }
  }
}

/** If permission cannot be asked, the call is refused. */
function decide(
  scope: Pick<AdmitScope, "store" | "active" | "admission">,
  admitted: Admitted,
  caller: Caller,
): PermissionDecision | Promise<PermissionDecision> {
  const refuse = (error: unknown): PermissionDecision => ({
    allowed: false,
    reason: `permission could not be asked (${toErrorMessage(error)})`,
  })
  try {
    const decision = scope.admission.permission.decide(new AskedPermission(scope, admitted, caller))
    if (!(decision instanceof Promise)) return decision
    void caller.tellAsked().catch(() => {})
    return decision.catch(refuse)
  } catch (error) {
    return refuse(error)
  }
}

async function finishAdmission(
  scope: Pick<AdmitScope, "store" | "config" | "active" | "admission">,
  asked: Admitted,
  decision: PermissionDecision | Promise<PermissionDecision>,
): Promise<Admitted> {
  const admitted = await withModel(withDecision(asked, await decision))
  const { call, tool } = admitted
  if (call.askedBy) await requireRecord(scope, call.askedBy)
  if (!call.parentTask) return admitted
  const parent = await findParent(scope, call, call.parentTask)
  const depth = parent.depth + 1
  const hops = Math.max(admitted.hops, parent.hops)
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

async function findParent(scope: HasStore & HasActive, call: CheckedCall, parentTask: TaskId): Promise<RunOrigin> {
  const parent = await findOrigin(scope, parentTask)
  if (parent && parent.workspace === (call.workspace ?? DEFAULT_WORKSPACE)) return parent
  const message = `There is no parent task ${parentTask}. Give the id of a task of the same workspace, or none.`
  throw new MeanwhileError("not_found", message, { parentTask })
}

/** True if memory alone shows that the call may name its session, and it names no group. True for every call of a turn. */
export function isPlaceKnown(scope: HasPorts, call: CheckedCall): boolean {
  return !call.group && (!call.session || findHome(scope, call) !== undefined)
}

/** The store checks the place of a call when it writes the task. A call that is not written is checked here. */
export async function requireOwnPlace(scope: HasPorts & HasStore, call: CheckedCall): Promise<void> {
  if (isPlaceKnown(scope, call)) return
  const { workspace = DEFAULT_WORKSPACE, session, group } = call
  if (session) requireOwnSession(call, (await scope.store.session(session))?.workspace)
  if (!group || (await scope.store.group(group))?.workspace === workspace) return
  throw new MeanwhileError("not_found", `There is no group ${group} in this workspace.`, { group })
}

/** A session that nobody has stored yet has no workspace: every call may name it. */
function requireOwnSession(call: CheckedCall, home: WorkspaceId | undefined): void {
  const { workspace = DEFAULT_WORKSPACE, session = null } = call
  if (home === undefined || home === workspace) return
  throw new MeanwhileError("not_found", `There is no session ${session} in this workspace.`, { session })
}

function findHome({ ports }: HasPorts, { session }: CheckedCall): WorkspaceId | undefined {
  return session ? ports.conversations.workspaceOf?.(session) : undefined
}

/** The request that permission decides about. Expensive facts are looked up only when asked for. */
class AskedPermission implements PermissionRequest {
  readonly call: CheckedCall
  readonly plugin: string
  readonly tool: string
  readonly input: unknown
  readonly definition: Tool
  readonly #scope: HasStore & HasActive
  readonly #caller: Caller

  constructor(scope: HasStore & HasActive, { call, plugin, tool, input }: Admitted, caller: Caller) {
    this.call = call
    this.plugin = plugin
    this.tool = tool.name
    this.input = input
    this.definition = tool
    this.#scope = scope
    this.#caller = caller
  }

  isInBackground(): Promise<boolean> {
    return isInBackground(this.#scope, this.call.parentTask)
  }

  beforeAsking(): Promise<void> {
    this.#caller.noteQuestion()
    return this.#caller.tellAsked()
  }

  get signal(): AbortSignal {
    return this.#caller.signal
  }
}

/**
 * The caller of a call, as permission reaches it. The controller is made when the signal is first read: only a question
 * to a person needs it. A class, as wherever every call makes an object with a getter: the getter of an object literal
 * has a hidden class of its own, which keeps all that the getter reaches in memory until the next full garbage collection.
 */
export class Caller {
  readonly #onAsked: (() => Promise<void>) | undefined
  #controller: AbortController | undefined
  #withdrawnFor: Required<StopRequest> | undefined
  #asked: Promise<void> | undefined
  #hasQuestion = false
  readonly #questions = new Set<() => void>()

  constructor(onAsked?: () => Promise<void>) {
    this.#onAsked = onAsked
  }

  /** Called before a person is asked; the question waits for the promise. The caller is told once. */
  tellAsked(): Promise<void> {
    return (this.#asked ??= this.#onAsked?.() ?? Promise.resolve())
  }

  /** A person is asked now. A permission that only takes time asks nobody. */
  noteQuestion(): void {
    this.#hasQuestion = true
    for (const tell of this.#questions) tell()
  }

  /** Resolves when a person is asked; never, if nobody is. */
  whenAsked(): Promise<void> {
    return new Promise((resolve) => (this.#hasQuestion ? resolve() : this.#questions.add(resolve)))
  }

  /** Settles once the caller was told that a person is asked. Undefined: no person is asked. */
  get asked(): Promise<void> | undefined {
    return this.#asked
  }

  /** Why the call is no longer wanted. Undefined: the call is still wanted. */
  get withdrawnFor(): Required<StopRequest> | undefined {
    return this.#withdrawnFor
  }

  /** Aborts when the call is no longer wanted. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal
  }

  withdraw(cause: Required<StopRequest>): void {
    this.#withdrawnFor ??= cause
    this.#controller ??= new AbortController()
    this.#controller.abort(new MeanwhileError("closed", cause.reason))
  }
}

const NOBODY = new Caller()
