import type { GroupRequest } from "../../../plugin/group-service.ts"
import type { ToolCall } from "../../../plugin/task-service.ts"
import type { WaitAnswer } from "../../../plugin/wait-request.ts"
import type { GroupRecord } from "../../../task/group.ts"
import type { NotifyMode, TaskRecord } from "../../../task/record.ts"
import type { BackgroundCall } from "./background-call.ts"
import type { CapableTool } from "./capable-tool.ts"
import { findTool } from "./find-tool.ts"
import { findSameWork } from "./same-work.ts"
import { waitForTasks } from "./wait-for-tasks.ts"
import { HANDOVERS } from "../../../plugin/agent-request.ts"

/** How a task is started, whatever it does. */
export interface StartOptions {
  readonly title?: string
  /** The open group of that name in this conversation, or a new one. */
  readonly group?: Omit<GroupRequest, "workspace" | "session">
  /** The group takes no more members after this one. */
  readonly seals?: boolean
  readonly notify?: NotifyMode
  readonly timeoutMs?: number
  readonly priority?: number
  /** Also when the same work of this conversation is alive. */
  readonly again?: boolean
  /** Waits for the end as long as a turn is kept open for it: of the group when it is sealed, else of the task. */
  readonly isRetained?: boolean
}

export interface TaskStart extends StartOptions {
  readonly tool: string
  readonly plugin?: string
  readonly input: unknown
}

export type Started =
  | {
      readonly outcome: "started"
      readonly task: TaskRecord
      readonly group: GroupRecord | null
      /** Null unless it was to be waited for. */
      readonly waited: WaitAnswer | null
    }
  /** The same work is alive: nothing was started. */
  | { readonly outcome: "running_already"; readonly task: TaskRecord }

export async function startTask(call: BackgroundCall, request: TaskStart): Promise<Started> {
  const found = findTool(call, request.tool, request.plugin)
  const input = found.tool.kind === "agent" ? await withHandover(call, request.input) : request.input
  return startTool(call, found, input, request)
}

/**
 * The effect of a crash, point by point; the call is made again and then
 * - before the task is written: at most an open group without it, which the same name finds again;
 * - after it: the task is found by the key of this call, and its group is sealed if that was left to do.
 */
export async function startTool(
  call: BackgroundCall,
  found: CapableTool,
  input: unknown,
  options: StartOptions,
): Promise<Started> {
  const { session } = call.context
  const work = JSON.stringify([session, found.plugin, found.tool.name, input])
  const started = await call.oneAtATime(work, () =>
    inGroup(call, options, () => startOnce(call, found, input, options)),
  )
  if (started.outcome === "running_already" || !options.isRetained) return started
  const { task, group } = started
  // A result that a person must decide on first cannot be awaited in this turn.
  if (group?.merge === "human_gated") return started
  const what = group && options.seals ? { group: group.id } : { tasks: [task.id] }
  const waited = await waitForTasks(call, { ...what, limitMs: call.settings.retainTurnTimeoutMs })
  return { ...started, waited }
}

/**
 * One after the other: the caller that seals a group has put its own task into it, and nobody finds it open in between.
 */
async function inGroup(
  { context, oneAtATime }: BackgroundCall,
  { group }: StartOptions,
  start: () => Promise<Started>,
): Promise<Started> {
  return group ? oneAtATime(JSON.stringify([context.session, group.name]), start) : start()
}

async function startOnce(
  call: BackgroundCall,
  found: CapableTool,
  input: unknown,
  options: StartOptions,
): Promise<Started> {
  const { tasks, session, callKey } = call.context
  const idempotencyKey = `start/${callKey}`
  const { items } = await tasks.list({ idempotencyKey })
  const [known] = items
  if (known) {
    const { task } = await tasks.get(known.id)
    return { outcome: "started", task, group: await settleGroup(call, task, options), waited: null }
  }
  const same = options.again ? undefined : await findSameWork(call, found, input)
  if (same) return { outcome: "running_already", task: same }
  const group = options.group ? await tasks.groups.open({ ...options.group, session }) : null
  const toolCall = { ...toToolCall(found, input, options), ...modelOf(call, found) }
  const task = await tasks.start({ ...toolCall, group: group?.id ?? null, idempotencyKey })
  return { outcome: "started", task, group: await settleGroup(call, task, options), waited: null }
}

/** An agent counts against the limit of its model. */
function modelOf({ context }: BackgroundCall, { tool }: CapableTool): Pick<ToolCall, "model"> {
  return tool.kind === "agent" && context.session !== null ? { model: context.model.id } : {}
}

function toToolCall({ plugin, tool }: CapableTool, input: unknown, options: StartOptions): ToolCall {
  const { title, notify, timeoutMs, priority } = options
  return {
    plugin,
    tool: tool.name,
    input,
    ...(title !== undefined && { title }),
    ...(notify !== undefined && { notify }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(priority !== undefined && { priority }),
  }
}

/** The group as it stands with the task in it; sealing a sealed one changes nothing. */
async function settleGroup(
  { context: { tasks, session } }: BackgroundCall,
  { group }: TaskRecord,
  { seals = false }: StartOptions,
): Promise<GroupRecord | null> {
  if (group === null) return null
  return seals ? tasks.groups.seal(group, { session }) : tasks.groups.get(group, { session })
}

/**
 * The input of an agent that is started by its tool's own name, with the conversation as it stands now: until there is
 * a slot for it the talk may have gone on.
 */
async function withHandover({ context }: BackgroundCall, input: unknown): Promise<unknown> {
  if (typeof input !== "object" || input === null || "context" in input) return input
  const { handover = "summary", ...rest } = input as { readonly handover?: unknown }
  const mode = HANDOVERS.find((known) => known === handover)
  return mode === undefined ? input : { ...rest, context: await context.sessions.handOver(mode) }
}
