import { MeanwhileError } from "../../base/error.ts"
import { type LifecycleEvent, toLogged } from "../../task/event.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import { transition } from "../../task/transition.ts"
import { type StoredTask, toTaskRecord } from "./stored-task.ts"
import type { Tables } from "./tables.ts"
import { type Change, wakeLiveTask, wakeTask } from "./change.ts"
import type { Handlers } from "./handler.ts"
import { requireTask, staleClaim, wrongState } from "./refusal.ts"
import { applyEffects } from "./run-effects.ts"

export function createApplyHandlers(tables: Tables): Pick<Handlers, "task.apply"> {
  return {
    "task.apply"({ run, event, lastSequence }, change) {
      const task = requireTask(tables.tasks, run.taskId)
      if (task.course.run !== run.run) throw wrongState(task, `run ${run.run} is not the current one`)
      if (run.fence !== undefined && run.fence !== task.course.fence) throw staleClaim(task)
      if (lastSequence !== undefined && lastSequence !== task.course.lastSequence) throw staleClaim(task)
      if (event.type === "task.answered") {
        const text = "A wait is answered with wait.answer, which records the answer too."
        throw new MeanwhileError("invalid_input", text, { taskId: run.taskId })
      }
      return toTaskRecord(moveRun(tables, task, event, change))
    },
  }
}

/** The one place where a run changes its status. */
export function moveRun(tables: Tables, task: StoredTask, event: LifecycleEvent, change: Change): StoredTask {
  const { number, details } = task
  const next = transition(task, event, change.now)
  if (!next) throw wrongState(task, `${event.type} has no way from here`)
  const sequence = task.course.lastSequence + 1
  const course = { ...task.course, ...next.course, lastSequence: sequence }
  const moved = { number, details, course, state: next.state, hasLargeInput: task.hasLargeInput }
  tables.events.append(number, sequence, course.run, change.now, toLogged(event))
  tables.tasks.saveRun(moved)
  applyEffects(tables, task.state, moved, change)
  const wake = isTerminal(next.state.status) ? wakeTask : wakeLiveTask
  wake(change, details.id, sequence)
  return moved
}
