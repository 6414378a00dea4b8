import { systemClock } from "../base/clock.ts"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../base/error.ts"
import type { JsonValue } from "../base/json.ts"
import { createNewestMap } from "../base/newest-map.ts"
import { unlessAborted } from "../base/unless-aborted.ts"
import type { Step } from "../task/step.ts"
import type { BackgroundCapable, BackgroundResult, BackgroundStatus, RunningWork } from "./background-capable.ts"
import type { ToolContext } from "./context.ts"
import type { ContributingPlugin } from "./tool-index.ts"
import { type BackgroundPolicy, failWith, kindOf, type StepElsewhere, type Tool, type ToolReturn } from "./tool.ts"

const ESTIMATE_WAIT_MS = 500
const MOST_ESTIMATES = 100

/**
 * The tools of a plugin that runs its work elsewhere, as tools of this runtime: each call is a task of the plugin, and
 * a task here that follows it. The plugin is asked once what its tools can do; its answers hold until it is exposed or
 * refreshed again. A tool of a kind other than `tool` stays as it is.
 */
export async function carryTools(plugin: ContributingPlugin & BackgroundCapable): Promise<readonly Tool[]> {
  return Promise.all((plugin.tools ?? []).map((tool) => carryTool({ plugin, tool })))
}

async function carryTool(elsewhere: Elsewhere): Promise<Tool> {
  const { plugin, tool } = elsewhere
  if (kindOf(tool) !== "tool") return tool
  if (!(await plugin.supportsBackground(tool.name))) {
    return { ...tool, background: { mode: "never" }, run: (input, context) => tool.run(input, context) }
  }
  return {
    ...tool,
    background: toPolicy(elsewhere, await plugin.autoBackgroundThreshold(tool.name)),
    estimateMs: createEstimate(elsewhere),
    // Everything that a run does outside its one step can be repeated.
    reattaches: true,
    endElsewhere: (steps) => endCarried(elsewhere, steps),
    findElsewhere: (call, steps) => findCarried(elsewhere, call, steps),
    adoptElsewhere: (work, input) => adoptCarried(elsewhere, work, input),
    run: (input, context) => carryCall(elsewhere, input, context),
  }
}

/** A call whose time limit ends before its threshold stays in the foreground. */
function toPolicy({ plugin, tool }: Elsewhere, seconds: number | null): BackgroundPolicy {
  if (seconds === null) return { mode: "on_request" }
  if (!Number.isFinite(seconds) || seconds < 0) {
    throw new MeanwhileError(
      "invalid_input",
      `Plugin "${plugin.name}" says that ${tool.name} leaves the foreground after ${seconds} seconds. Let it say a number from 0, or null for never.`,
      { plugin: plugin.name, tool: tool.name },
    )
  }
  if (seconds === 0) return { mode: "always" }
  const ms = seconds * 1_000
  return typeof tool.timeoutMs === "number" && tool.timeoutMs <= ms ? { mode: "on_request" } : { mode: "after", ms }
}

/** Waits only briefly, so that readers of a task are not held up. A later estimate is shown the next time. */
function createEstimate({ plugin, tool }: Elsewhere): NonNullable<Tool["estimateMs"]> {
  const asked = createNewestMap<string, Promise<number | null>>(MOST_ESTIMATES)
  return async (input) => {
    const key = JSON.stringify(input)
    const estimate = asked.get(key) ?? plugin.estimateDuration(tool.name, input)
    asked.set(key, estimate)
    estimate.catch(() => asked.delete(key))
    const seconds = await unlessAborted(AbortSignal.timeout(ESTIMATE_WAIT_MS), estimate).catch(() => null)
    return seconds !== null && seconds >= 0 ? seconds * 1_000 : undefined
  }
}

/** A tool whose calls are tasks of its plugin's own. */
interface Elsewhere {
  readonly plugin: BackgroundCapable & { readonly name: string }
  readonly tool: Tool
}

/** The result of this step is the id of the plugin's task. */
const START_STEP = "start-elsewhere"
/**
 * The plugin's own time limit is this much longer, so that the limit of the task here ends first. It is for work that
 * nobody is left to stop.
 */
const LATER_LIMIT_SECONDS = 60
const LOOK_AGAIN_MS = 500
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 10_000
/** After this many failures in a row, about two minutes of them, the plugin counts as unreachable. */
const MOST_FAILURES = 20
const END_WAIT_MS = 5_000

/**
 * Starts a task of the plugin for the call and follows it to its end. If Meanwhile dies
 *
 * - in the foreground: nothing was stored, and the tool's `onCrash` decides what the turn does with the call;
 * - inside the start: the plugin's task may exist or not, and again `onCrash` decides. `retry` is for a plugin that
 *   recognises the key of the call;
 * - anywhere else: the run goes on after the restart. It starts the plugin's task if that was not done, and finds it by
 *   its id if it was.
 */
async function carryCall(elsewhere: Elsewhere, input: unknown, context: ToolContext): Promise<JsonValue | ToolReturn> {
  const id = await startThere(elsewhere, input, context)
  const following = follow(elsewhere, id, context)
  try {
    return await unlessAborted(context.signal, following)
  } catch (error) {
    if (!context.signal.aborted || isLost(context)) throw error
    if (await cancelThere(elsewhere, id)) throw error
    context.log.warn("work elsewhere could not be stopped", { task: context.taskId, plugin: elsewhere.plugin.name })
    // The work still runs, so it is followed until the stop is given up: a stop does not count as over while its work
    // goes on.
    return following
  }
}

/** Cancels the plugin's task of a run that no worker has any more. False: some of its work may still run. */
async function endCarried(elsewhere: Elsewhere, steps: readonly Step[]): Promise<boolean> {
  const start = steps.find(({ key }) => key === START_STEP)
  if (!start) return true
  if (start.state === "started" || typeof start.result !== "string") return false
  return unlessAborted(AbortSignal.timeout(END_WAIT_MS), cancelThere(elsewhere, start.result)).catch(() => false)
}

/**
 * Finds the plugin's task of a run that a crash cut off inside the start: a plugin that keeps the key of the call in the
 * metadata of its handles says by it that the task is there.
 */
async function findCarried(
  { plugin }: Elsewhere,
  call: KeyedCall,
  steps: readonly Step[],
): Promise<StepElsewhere | null> {
  const start = steps.find(({ key }) => key === START_STEP)
  if (start?.state !== "started") return null
  const handles = await unlessAborted(AbortSignal.timeout(END_WAIT_MS), plugin.listTasks())
  const found = handles.find(({ metadata }) => metadata?.["callKey"] === toKeyThere(call))
  return found ? { key: START_STEP, result: found.taskId } : null
}

/** The plugin has the work from here on: it is asked for the result, and to stop it. */
async function adoptCarried(elsewhere: Elsewhere, work: RunningWork, input: unknown): Promise<StepElsewhere> {
  const { plugin, tool } = elsewhere
  const { taskId } = await plugin.registerRunningTask(work, tool.name, input)
  return { key: START_STEP, result: requireId(elsewhere, taskId) }
}

type KeyedCall = Pick<ToolContext, "callKey" | "run">

const toKeyThere = ({ callKey, run }: KeyedCall): string => `${callKey}/${run}`

async function startThere(elsewhere: Elsewhere, input: unknown, context: ToolContext): Promise<string> {
  const { plugin, tool } = elsewhere
  const { timeoutMs } = context
  const limitSeconds = timeoutMs === null ? undefined : Math.ceil(timeoutMs / 1_000) + LATER_LIMIT_SECONDS
  const onCrash = tool.onCrash ?? "fail"
  const begun: { id: string | null } = { id: null }
  const start = async (): Promise<string> => {
    const { taskId } = await plugin.startBackground(tool.name, input, limitSeconds, toKeyThere(context))
    begun.id = requireId(elsewhere, taskId)
    return begun.id
  }
  try {
    return await context.step(START_STEP, start, { onCrash })
  } catch (error) {
    // Nobody would find the started task, unless the worker that has the run now started it under the same key.
    const isFound = isLost(context) && onCrash === "retry"
    if (begun.id !== null && !isFound) await cancelThere(elsewhere, begun.id)
    throw error
  }
}

function requireId({ plugin, tool }: Elsewhere, taskId: unknown): string {
  if (typeof taskId === "string" && taskId !== "") return taskId
  const message = `Plugin "${plugin.name}" started ${tool.name} and named no task. Its startBackground must return a handle with a taskId.`
  throw new MeanwhileError("plugin_unavailable", message, { plugin: plugin.name, tool: tool.name })
}

/** Survives lost connections: the work does not end because nobody could look at it for a while. */
async function follow(elsewhere: Elsewhere, id: string, context: ToolContext): Promise<JsonValue | ToolReturn> {
  const { plugin } = elsewhere
  let failures = 0
  for (;;) {
    try {
      const result = await plugin.getResult(id, true)
      if (result.status !== "pending" && result.status !== "running") return toReturn(elsewhere, result)
      failures = 0
    } catch (error) {
      if (isUnknown(error)) return toLost(elsewhere, id)
      failures += 1
      if (failures === MOST_FAILURES) return toUnreachable(elsewhere, id, error)
      context.progress({ line: `${plugin.name} cannot be asked how it goes: ${toErrorMessage(error)}` })
    }
    await pause(failures === 0 ? LOOK_AGAIN_MS : Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS))
    if (isLost(context)) context.signal.throwIfAborted()
  }
}

function toReturn({ plugin, tool }: Elsewhere, { status, result, error }: BackgroundResult): JsonValue | ToolReturn {
  switch (status) {
    case "completed":
      return result
    case "failed":
      return failWith({ code: "tool_error", message: error ?? `${tool.name} failed in ${plugin.name}` }, result)
    case "cancelled":
      return failWith({ code: "cancelled_elsewhere", message: error ?? `it was cancelled in ${plugin.name}` }, result)
    case "timeout":
      return failWith({ code: "timed_out_elsewhere", message: error ?? `its time was up in ${plugin.name}` }, result)
    default:
      return failWith(
        { code: "plugin_unavailable", message: `${plugin.name} reported the unknown status "${status}"` },
        result,
      )
  }
}

function toLost({ plugin, tool }: Elsewhere, id: string): ToolReturn {
  const message = `${tool.name} was interrupted: ${plugin.name} does not know its task ${id} any more, so whether it finished is not known. Start it again if it may run twice.`
  return failWith({ code: "interrupted", message })
}

function toUnreachable({ plugin, tool }: Elsewhere, id: string, error: unknown): ToolReturn {
  const message = `${plugin.name} could not be asked how ${tool.name} goes, which may still run there as ${id}: ${toErrorMessage(error)}`
  return failWith({ code: "plugin_unavailable", message })
}

const ENDED: readonly BackgroundStatus[] = ["completed", "failed", "cancelled", "timeout"]

/** A task that the plugin does not know, or that ended by itself, is not running there. */
async function cancelThere({ plugin }: Elsewhere, id: string): Promise<boolean> {
  try {
    return (await plugin.cancel(id)) || ENDED.includes(await plugin.getStatus(id))
  } catch (error) {
    return isUnknown(error)
  }
}

/** Looks at the code alone: a plugin may bring a copy of Meanwhile of its own, with another error class. */
function isUnknown(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "not_found"
}

/** True if another worker has the run and follows the work now. */
function isLost({ signal }: ToolContext): boolean {
  return isMeanwhileError(signal.reason, "stale_claim")
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => systemClock.schedule(delayMs, resolve, { isBackground: true }))
}
