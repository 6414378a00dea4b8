import type { FactEvent } from "../../task/event.ts"
import type { RunState, TaskCourse } from "../../task/record.ts"

/** Applies facts about the current run to a record. The caller counts the events. */
export function withFacts<Task extends { readonly course: TaskCourse; readonly state: RunState }>(
  task: Task,
  facts: readonly FactEvent[],
  now: number,
): Task {
  return facts.reduce((known, fact) => withFact(known, fact, now), task)
}

function withFact<Task extends { readonly course: TaskCourse; readonly state: RunState }>(
  task: Task,
  fact: FactEvent,
  now: number,
): Task {
  const { course } = task
  switch (fact.type) {
    case "task.progressed":
      return { ...task, course: { ...course, progress: fact.progress } }
    case "task.spent": {
      const tokens = course.usage.tokens + fact.usage.tokens
      const costMicros = course.usage.costMicros + fact.usage.costMicros
      return { ...task, course: { ...course, usage: { tokens, costMicros } } }
    }
    case "task.retrieved":
      return { ...task, course: { ...course, retrievedAt: course.retrievedAt ?? now } }
    case "task.finished_late":
      return { ...task, state: withLatePatch(task.state, fact.patch) }
    default:
      return task
  }
}

/** A stopped run keeps the first result that came although it was stopped. */
export function withLatePatch<State extends RunState>(
  state: State,
  patch: Extract<FactEvent, { type: "task.finished_late" }>["patch"],
): State {
  if (state.status !== "cancelled" && state.status !== "timed_out") return state
  return state.patch === null ? { ...state, patch } : state
}
