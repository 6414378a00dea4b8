import type { Step } from "../../../task/step.ts"
import type { StepTable, TaskTable } from "../../rules/tables.ts"
import type { WriterMemory } from "./writer-memory.ts"

/** Known steps of a task's run. */
export interface KnownSteps {
  readonly run: number
  /** The number of the one that finished last; null while nobody has looked. */
  readonly completion: number | null
  /** The one that started last, as long as it has not finished. */
  readonly started: Step | null
}

/**
 * Remembers which step finished last, for which the longer is looked the more there are, and which one is under way.
 */
export function createStepCache(table: StepTable, known: WriterMemory<number, KnownSteps>): StepTable {
  function find(task: number, run: number): KnownSteps {
    const steps = known.get(task)
    return steps?.run === run ? steps : { run, completion: null, started: null }
  }

  return {
    ...table,
    find(task, taskId, run, key) {
      const { started } = find(task, run)
      return started?.key === key ? started : table.find(task, taskId, run, key)
    },
    lastCompletion(task, run) {
      const steps = find(task, run)
      if (steps.completion !== null) return steps.completion
      const completion = table.lastCompletion(task, run)
      known.set(task, { ...steps, completion })
      return completion
    },
    start(task, step, sequence) {
      const isNew = table.start(task, step, sequence)
      if (isNew) known.set(task, { ...find(task, step.run), started: step })
      return isNew
    },
    finish(task, step, sequence) {
      table.finish(task, step, sequence)
      const { started } = find(task, step.run)
      const { run, completion } = step
      known.set(task, { run, completion, started: started?.key === step.key ? null : started })
    },
    remove(task) {
      table.remove(task)
      known.delete(task)
    },
  }
}

/** A new task has no steps. */
export function withNewSteps(tasks: TaskTable, known: WriterMemory<number, KnownSteps>): TaskTable {
  return {
    ...tasks,
    insert(task) {
      const stored = tasks.insert(task)
      known.set(stored.number, { run: stored.course.run, completion: 0, started: null })
      return stored
    },
  }
}
