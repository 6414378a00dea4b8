import type { JsonValue } from "../../base/json.ts"
import type { FactEvent } from "../../task/event.ts"
import type { TaskId } from "../../task/id.ts"
import type { OnCrash, Step, StepTaken } from "../../task/step.ts"
import type { FinishedStep, StoredTask, Tables } from "./tables.ts"
import { type Change, type Handlers, wakeTask } from "./change.ts"
import { requireLiveRun, requireTask } from "./refusal.ts"
import { settleClaims } from "./use-notices.ts"

export function createStepHandlers(tables: Tables) {
  return {
    "step.start": ({ run, key, onCrash }, change) =>
      startStep(tables, requireLiveRun(tables.tasks, run), key, onCrash, change),
    "step.finish"({ run, key, result, settlesClaims }, change) {
      const task = requireLiveRun(tables.tasks, run)
      if (settlesClaims) settleClaims(tables, { taskId: run.taskId, run: run.run, key }, change)
      return finishStep(tables, task, { key, result }, change)
    },
  } satisfies Partial<Handlers>
}

/** Records the steps that a new task has taken before it was written. */
export function recordSteps(tables: Tables, taskId: TaskId, steps: readonly StepTaken[], change: Change): void {
  for (const step of steps) {
    const task = requireTask(tables.tasks, taskId)
    if (step.state === "finished") finishStep(tables, task, step, change)
    else startStep(tables, task, step.key, step.onCrash, change)
  }
}

function startStep(tables: Tables, task: StoredTask, key: string, onCrash: OnCrash, change: Change): Step {
  const { run } = task.course
  const taskId = task.details.id
  const step = { taskId, run, key, onCrash, startedAt: change.now, state: "started" } as const
  if (!tables.steps.start(task.number, step, nextSequence(task)))
    return tables.steps.find(task.number, taskId, run, key) ?? step
  appendFact(tables, task, { type: "step.started", key }, change)
  return step
}

/** `onCrash` is for a step whose start was never written. */
export function finishStep(
  tables: Tables,
  task: StoredTask,
  { key, result, onCrash = "fail" }: { key: string; result: JsonValue; onCrash?: OnCrash },
  change: Change,
): Step {
  const { run } = task.course
  const taskId = task.details.id
  const known = tables.steps.find(task.number, taskId, run, key)
  if (known?.state === "finished") return known
  const completion = tables.steps.lastCompletion(task.number, run) + 1
  const step: FinishedStep = {
    taskId,
    run,
    key,
    onCrash: known?.onCrash ?? onCrash,
    startedAt: known?.startedAt ?? change.now,
    state: "finished",
    completion,
    result,
    finishedAt: change.now,
  }
  tables.steps.finish(task.number, step, nextSequence(task))
  appendFact(tables, task, { type: "step.finished", key, completion }, change)
  return step
}

function appendFact({ events, tasks }: Tables, task: StoredTask, fact: FactEvent, change: Change): void {
  const sequence = nextSequence(task)
  events.append(task.number, sequence, task.course.run, change.now, fact)
  tasks.saveFacts({ ...task, course: { ...task.course, lastSequence: sequence } })
  wakeTask(change, task.details.id, sequence)
}

function nextSequence({ course }: StoredTask): number {
  return course.lastSequence + 1
}
