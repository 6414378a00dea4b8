import { isDeepStrictEqual } from "node:util"
import { defined } from "../../../base/defined.ts"
import { MeanwhileError } from "../../../base/error.ts"
import { findNearNames } from "../../../base/near-name.ts"
import { type AgentRequest, type Handover, HANDOVERS } from "../../../plugin/agent-request.ts"
import type { GroupRequest } from "../../../plugin/group-service.ts"
import { parse } from "../../../plugin/schema.ts"
import type { ToolCall } from "../../../plugin/task-service.ts"
import { type Tool, toPinned } from "../../../plugin/tool.ts"
import type { WaitAnswer } from "../../../plugin/wait-request.ts"
import type { GroupRecord } from "../../../task/group.ts"
import { LIVE_STATUSES } from "../../../task/lifecycle.ts"
import type { TaskRecord } from "../../../task/record.ts"
import type { BackgroundCall } from "./background-call.ts"
import type { CapableTool } from "./capable-tool.ts"
import { waitForTasks } from "./own-tasks.ts"

/** How a task is started, whatever it does. */
export interface StartOptions extends Pick<ToolCall, "title" | "notify" | "timeoutMs" | "lifetime" | "priority"> {
  /** The task joins the open group of that name in this conversation, or a new one. */
  readonly group?: Omit<GroupRequest, "workspace" | "session">
  /** The group takes no more members after this one. */
  readonly seals?: boolean
  /** Starts the task even if a live task of this conversation does the same work. */
  readonly again?: boolean
  /** Keeps the turn open, up to a limit, until the group has ended if this start seals it, else until the task has. */
  readonly isRetained?: boolean
}

export interface TaskStart extends StartOptions, Pick<ToolCall, "tool" | "plugin" | "input"> {}

export interface AgentStart
  extends StartOptions,
    Pick<AgentRequest, "task" | "profile" | "name" | "budget" | "milestones"> {
  /** The part of this conversation that the agent is handed, as of now. Default `summary`. */
  readonly handover?: Handover
}

export type Started =
  | {
      readonly outcome: "started"
      readonly task: TaskRecord
      readonly group: GroupRecord | null
      /** Null if the start did not wait. */
      readonly waited: WaitAnswer | null
    }
  /** The same work is alive: nothing was started. */
  | { readonly outcome: "running_already"; readonly task: TaskRecord }

export async function startTask(call: BackgroundCall, request: TaskStart): Promise<Started> {
  const found = findTool(call, request.tool, request.plugin)
  const input = found.tool.kind === "agent" ? await withHandover(call, request.input) : request.input
  return startTool(call, found, input, request)
}

export async function startAgent(call: BackgroundCall, request: AgentStart): Promise<Started> {
  const { task, profile, name, handover = "summary", budget, milestones, ...options } = request
  const found = call.capable().find(({ tool }) => tool.kind === "agent")
  if (!found) {
    const message = "No tool here starts agents. Do the work yourself, or start its parts as tasks."
    throw new MeanwhileError("not_background_capable", message)
  }
  // Set even if it is empty, so that an agent that is to be handed nothing takes no summary by itself.
  const context = await call.context.sessions.handOver(handover)
  const input: AgentRequest = defined({ task, profile, name, context, budget, milestones })
  return startTool(call, found, input, options)
}

/** Finds the tool to start. A model starts no tool that it could not call itself. */
function findTool(call: BackgroundCall, name: string, plugin?: string): CapableTool {
  const capable = call.capable()
  const found = capable.find((each) => each.tool.name === name && (plugin === undefined || each.plugin === plugin))
  if (found) return found
  const names = capable.map((each) => each.tool.name)
  const these = names.length > 0 ? `These can: ${names.join(", ")}.` : "No tool here can."
  const offered = call.context.sessions.offers().filter(({ tool }) => tool === name)
  if (offered.some((each) => plugin === undefined || each.plugin === plugin)) {
    throw new MeanwhileError("not_background_capable", `${name} cannot run in the background. ${these}`, { tool: name })
  }
  const near = findNearNames(name, names)
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : these
  const where = plugin === undefined ? "" : ` of plugin ${plugin}`
  throw new MeanwhileError("unknown_tool", `There is no tool ${name}${where} to run in the background. ${hint}`, {
    tool: name,
  })
}

/**
 * After a crash the call is made again. If the crash came
 * - before the task was written: there is at most an open group without the task, which the same name finds again;
 * - after that: the task is found by the key of this call, and its group is sealed if that was still to be done.
 */
async function startTool(
  call: BackgroundCall,
  found: CapableTool,
  input: unknown,
  options: StartOptions,
): Promise<Started> {
  const { oneAtATime, settings } = call
  const { session } = call.context
  const work = JSON.stringify([session, found.plugin, found.tool.name, input])
  const start = () => startOnce(call, found, input, options)
  // Starts into one group run one after the other, so that no start finds the group open before another one seals it.
  const place = options.group && JSON.stringify([session, options.group.name])
  const started = await oneAtATime(work, place === undefined ? start : () => oneAtATime(place, start))
  if (started.outcome === "running_already" || !options.isRetained) return started
  const { task, group } = started
  // A result that a person must decide on first cannot be awaited in this turn.
  if (group?.merge === "human_gated") return started
  const what = group && options.seals ? { group: group.id } : { tasks: [task.id] }
  return { ...started, waited: await waitForTasks(call, { ...what, limitMs: settings.retainTurnTimeoutMs }) }
}

async function startOnce(
  call: BackgroundCall,
  found: CapableTool,
  input: unknown,
  options: StartOptions,
): Promise<Started> {
  const { tasks, session, callKey, model } = call.context
  const idempotencyKey = `start/${callKey}`
  const [known] = (await tasks.list({ idempotencyKey })).items
  if (known) {
    const { task } = await tasks.get(known.id)
    return { outcome: "started", task, group: await settleGroup(call, task, options), waited: null }
  }
  const same = options.again ? undefined : await findSameWork(call, found, input)
  if (same) return { outcome: "running_already", task: same }
  const group = options.group ? await tasks.groups.open({ ...options.group, session }) : null
  const { plugin, tool } = found
  const { title, notify, timeoutMs, lifetime, priority } = options
  const task = await tasks.start({
    plugin,
    tool: tool.name,
    input,
    ...defined({ title, notify, timeoutMs, lifetime, priority }),
    // An agent counts against the limit of its model.
    ...(tool.kind === "agent" && session !== null && { model: model.id }),
    group: group?.id ?? null,
    idempotencyKey,
  })
  return { outcome: "started", task, group: await settleGroup(call, task, options), waited: null }
}

const MOST_COMPARED = 100

/** Finds a live task of this conversation with the same work. A task whose input held a secret is never recognised. */
async function findSameWork(
  { context }: BackgroundCall,
  { plugin, tool }: CapableTool,
  input: unknown,
): Promise<TaskRecord | undefined> {
  const { tasks, session } = context
  const filter = { session, plugin, tool: tool.name, statuses: LIVE_STATUSES }
  const { items } = await tasks.list(filter, { limit: MOST_COMPARED })
  const asked = toComparable(tool, input)
  for (const { id } of items) {
    const { task } = await tasks.get(id)
    if (isDeepStrictEqual(toComparable(tool, task.input), asked)) return task
  }
  return undefined
}

/** The input with the tool's defaults, pinned to this process. Of an agent only task and profile, without the handover. */
function toComparable(tool: Tool, input: unknown): unknown {
  if (tool.kind === "agent") {
    const { task, profile } = input as Partial<AgentRequest>
    return { task, profile }
  }
  const parsed = parse(tool.input, input)
  if (!parsed.success) return input
  return toPinned(tool, parsed.data, parsed.data)
}

/** Returns the task's group, sealed first if wanted. Sealing a sealed group changes nothing. */
async function settleGroup(
  { context: { tasks, session } }: BackgroundCall,
  { group }: TaskRecord,
  { seals = false }: StartOptions,
): Promise<GroupRecord | null> {
  if (group === null) return null
  return seals ? tasks.groups.seal(group, { session }) : tasks.groups.get(group, { session })
}

/**
 * The input of an agent that is started by its tool's own name, with the conversation as it stands now: the
 * conversation may go on before there is a slot for the agent.
 */
async function withHandover({ context }: BackgroundCall, input: unknown): Promise<unknown> {
  if (typeof input !== "object" || input === null || "context" in input) return input
  const { handover = "summary", ...rest } = input as { readonly handover?: unknown }
  const mode = HANDOVERS.find((known) => known === handover)
  return mode === undefined ? input : { ...rest, context: await context.sessions.handOver(mode) }
}
