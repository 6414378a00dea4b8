import type { Patch } from "../../task/patch.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { RunState, TaskRecord } from "../../task/record.ts"
import { type StoredTask, type Tables, toTaskRecord } from "./tables.ts"
import { type Handlers, wakeLiveTask, wakeTask } from "./change.ts"
import { requireTask, wrongState } from "./refusal.ts"

/** Operations that change the priority or the time limit of a task, strip it, or remove it. */
export function createTaskHandlers(tables: Tables) {
  const { tasks, events, runs, steps } = tables

  function requireEnded(task: StoredTask, run: number = task.course.run): void {
    if (task.course.run !== run) throw wrongState(task, `run ${run} is not the current one`)
    if (!isTerminal(task.state.status)) throw wrongState(task, "the run has not ended")
  }

  return {
    "task.prioritize"({ taskId, priority }, change) {
      const task = requireTask(tasks, taskId)
      if (isTerminal(task.state.status)) throw wrongState(task, "the run has ended")
      const prioritized = { ...task, details: { ...task.details, priority } }
      tasks.saveDetails(prioritized)
      if (task.state.status === "queued") change.hasOffers = true
      wakeTask(change, taskId, task.course.lastSequence)
      return toTaskRecord(prioritized)
    },
    "task.limit"({ taskId, timeoutMs }, change) {
      const task = requireTask(tasks, taskId)
      if (isTerminal(task.state.status)) throw wrongState(task, "the run has ended")
      if (task.details.limits.timeoutMs === timeoutMs) return toTaskRecord(task)
      const sequence = task.course.lastSequence + 1
      const limited: StoredTask = {
        ...task,
        details: { ...task.details, limits: { ...task.details.limits, timeoutMs } },
        course: { ...task.course, lastSequence: sequence },
      }
      events.append(task.number, sequence, task.course.run, change.now, { type: "task.limited", timeoutMs })
      tasks.saveFacts(limited)
      tasks.saveDetails(limited)
      wakeLiveTask(change, taskId, sequence)
      return toTaskRecord(limited)
    },
    "task.strip"({ taskId, run }, change) {
      const task = requireTask(tasks, taskId)
      requireEnded(task, run)
      if (task.course.strippedAt !== null) return toTaskRecord(task)
      const stripped: StoredTask = {
        ...task,
        details: { ...task.details, input: null },
        course: { ...task.course, strippedAt: change.now },
        state: withoutPayload(task.state),
      }
      tasks.saveFacts(stripped)
      tasks.saveInput(stripped)
      steps.remove(task.number)
      events.removeBefore(task.number, task.course.lastSequence)
      for (const record of runs.all(task.number)) runs.save(task.number, withoutInput(record))
      wakeTask(change, taskId, task.course.lastSequence)
      return toTaskRecord(stripped)
    },
    "task.remove"({ taskId, run }, change) {
      const task = requireTask(tasks, taskId)
      requireEnded(task, run)
      removeTask(tables, task)
      wakeTask(change, taskId, task.course.lastSequence)
      return null
    },
  } satisfies Partial<Handlers>
}

/** Removes a task with all rows that belong to it. The task's own row holds the result. */
export function removeTask(tables: Tables, task: StoredTask): void {
  const { number, details } = task
  tables.events.remove(number)
  tables.steps.remove(number)
  tables.notices.remove(number)
  tables.waits.remove(number)
  tables.runs.remove(number)
  tables.artifacts.removeOwner(number)
  if (details.group !== null) tables.groups.removeMember(details.group, number)
  tables.tasks.remove(task)
}

function withoutInput(record: TaskRecord): TaskRecord {
  return { ...withoutPayload(record), input: null }
}

/** Removes the payload, which takes the room. Digest, facts and references to artifacts stay readable. */
function withoutPayload<State extends RunState>(state: State): State {
  if (!("patch" in state) || state.patch === null) return state
  const patch: Patch = { ...state.patch, payload: null }
  return { ...state, patch }
}
