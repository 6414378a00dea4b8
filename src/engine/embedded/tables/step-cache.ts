import type { StepTable } from "../../rules/tables.ts"
import type { WriterMemory } from "./writer-memory.ts"

export interface LastCompletion {
  readonly run: number
  readonly completion: number
}

/** Remembers the number of the step that finished last, by task: looking for it takes the longer the more steps there are. */
export function createStepCache(table: StepTable, known: WriterMemory<number, LastCompletion>): StepTable {
  return {
    ...table,
    lastCompletion(task, run) {
      const last = known.get(task)
      if (last?.run === run) return last.completion
      const completion = table.lastCompletion(task, run)
      known.set(task, { run, completion })
      return completion
    },
    finish(task, step, sequence) {
      table.finish(task, step, sequence)
      known.set(task, { run: step.run, completion: step.completion })
    },
    remove(task) {
      table.remove(task)
      known.delete(task)
    },
  }
}
