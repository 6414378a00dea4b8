import { z } from "zod"
import { parse } from "../../plugin/schema.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { TaskRecord } from "../../task/record.ts"
import { parseInput } from "../admit/details.ts"
import type { Outcome } from "../run/active-run.ts"
import type { ExecuteScope, HasRedactor, HasTools, HasWritten } from "../run/scope.ts"
import { outsideOfTraces } from "../run/trace.ts"
import { silentLog } from "../redaction/redacting-log.ts"
import { beginRun, failRun, toBackgroundPlan } from "./begin-run.ts"
import { toFailedOutcome } from "./end-run.ts"

interface ClaimedOptions {
  /** The run's process already runs, or has ended. */
  readonly isAdopted?: boolean
  readonly hasEndedInTime?: boolean
}

/**
 * Begins a task that this worker has claimed and holds a slot for. The slot is the run's from here on. A task whose tool
 * is gone, or whose stored input the tool no longer takes, fails instead. A run whose process was adopted goes on even if
 * the tool no longer takes its input: the process already runs. The run belongs to the trace that its record names, not
 * to the span that was active when this worker looked into the queue.
 */
export function beginClaimed(
  scope: ExecuteScope,
  task: TaskRecord,
  { isAdopted = false, hasEndedInTime = false }: ClaimedOptions = {},
): void {
  const call = toCall(scope, task, isAdopted)
  const isLogged = scope.log !== silentLog
  if (isLogged) scope.log.info("run taken", toFields(task))
  outsideOfTraces(() => {
    if ("failure" in call) failRun(scope, toBackgroundPlan(task, toAbsentTool(task.tool), null), call)
    else beginRun(scope, { ...toBackgroundPlan(task, call.tool, call.input), hasEndedInTime })
  })
  const active = isLogged && scope.active.get(task.id)
  if (active)
    active.listeners.onLeft = (left) =>
      scope.log.info("run left", { ...toFields(task), status: left?.status ?? "lost" })
}

const toFields = ({ id, run, kind, title }: TaskRecord) => ({ task: id, run, kind, title })

function toCall(
  scope: HasRedactor & HasTools & HasWritten,
  task: TaskRecord,
  isAdopted: boolean,
): { readonly tool: Tool; readonly input: unknown } | Extract<Outcome, { succeeded: false }> {
  try {
    const { tool } = scope.tools.find(task.tool, task.plugin)
    const stored = scope.written.heldInputs.get(task.id) ?? task.input
    return { tool, input: isAdopted ? toAdoptedInput(tool, stored) : parseInput(tool, stored) }
  } catch (error) {
    return toFailedOutcome(scope.redactor, error)
  }
}

function toAdoptedInput(tool: Tool, stored: unknown): unknown {
  const parsed = parse(tool.input, stored)
  return parsed.success ? parsed.data : stored
}

/** Stands for the tool of a run that cannot begin: it is never called. */
function toAbsentTool(name: string): Tool {
  const run = () => Promise.reject(new Error(`${name} cannot be called.`))
  return { name, description: "", input: z.unknown(), run }
}
