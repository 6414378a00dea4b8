import type { JsonValue } from "../../../base/json.ts"
import type { FactEvent } from "../../../task/event.ts"
import type { Step } from "../../../task/step.ts"
import type { StoredTask } from "../tables/task-row.ts"
import type { Tables } from "../tables/tables.ts"
import { type Change, wakeTask } from "./change.ts"
import type { Handlers } from "./handler.ts"
import { requireLiveRun } from "./refusal.ts"

export function createStepHandlers(tables: Tables): Pick<Handlers, "step.start" | "step.finish"> {
  return {
    "step.start"({ run, key, onCrash }, change) {
      const task = requireLiveRun(tables.tasks, run)
      const known = tables.steps.find(task.number, run.taskId, run.run, key)
      if (known) return known
      const step: Step = { taskId: run.taskId, run: run.run, key, onCrash, startedAt: change.now, state: "started" }
      tables.steps.save(task.number, step)
      appendFact(tables, task, { type: "step.started", key }, change)
      return step
    },
    "step.finish": ({ run, key, result }, change) =>
      finishStep(tables, requireLiveRun(tables.tasks, run), key, result, change),
  }
}

export function finishStep(tables: Tables, task: StoredTask, key: string, result: JsonValue, change: Change): Step {
  const { run } = task.course
  const taskId = task.details.id
  const known = tables.steps.find(task.number, taskId, run, key)
  if (known?.state === "finished") return known
  const completion = tables.steps.lastCompletion(task.number, run) + 1
  const step: Step = {
    taskId,
    run,
    key,
    onCrash: known?.onCrash ?? "fail",
    startedAt: known?.startedAt ?? change.now,
    state: "finished",
    completion,
    result,
    finishedAt: change.now,
  }
  tables.steps.save(task.number, step)
  appendFact(tables, task, { type: "step.finished", key, completion }, change)
  return step
}

function appendFact({ events, tasks }: Tables, task: StoredTask, fact: FactEvent, change: Change): void {
  const sequence = task.course.lastSequence + 1
  events.append(task.number, sequence, task.course.run, change.now, fact)
  tasks.saveFacts({ ...task, course: { ...task.course, lastSequence: sequence } })
  wakeTask(change, task.details.id, sequence)
}
