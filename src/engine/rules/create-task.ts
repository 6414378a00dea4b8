import { MeanwhileError } from "../../base/error.ts"
import type { TaskEventBody } from "../../task/event.ts"
import type { TaskEntry } from "../../task/operation.ts"
import { NO_USAGE } from "../../task/progress.ts"
import type { RunState, TaskCourse, TaskDetails } from "../../task/record.ts"
import { type StoredTask, type Tables, toTaskRecord } from "./tables.ts"
import { type Change, type Handlers, wakeGroup, wakeLiveTask, wakeTask } from "./change.ts"
import { withFacts, isTerminal } from "../../task/lifecycle.ts"
import { finishStep, recordSteps } from "./record-step.ts"
import { notFound, requireLiveRun, requireOwnSession, requireTask, wrongState } from "./refusal.ts"
import { applyEffects } from "./move-run.ts"
import { enterFamily, requireNoneStoppedAbove, takeChildren } from "./family.ts"

export function createCreateHandlers(tables: Tables) {
  const { tasks, events } = tables
  return {
    "task.create"({ details, entry, facts = [], steps = [], askingStepResult, children = [] }, change) {
      requireOwnSession(tables.sessions, details)
      requireOwnStep(tables, details)
      const known = findKnown(tables, details)
      if (known) return { task: toTaskRecord(known), created: false }
      requireNoneStoppedAbove(tables, details.parentTask)
      joinGroup(tables, details, change)
      const { now } = change
      const { state, entered } = toFirstState(entry, now)
      const bodies = [{ type: "task.queued" } as const, ...entered, ...facts]
      const course = toCourse(entry, now, bodies.length)
      enterFamily(tables, details.parentTask)
      const task = tasks.insert(withFacts({ details, course, state }, facts, now))
      let sequence = 0
      for (const body of bodies) events.append(task.number, ++sequence, 1, now, body)
      if (facts.length > 0) tasks.saveFacts(task)
      applyEffects(tables, undefined, task, change)
      wakeLiveTask(change, details.id, sequence)
      recordSteps(tables, details.id, steps, change)
      if (askingStepResult !== undefined) {
        if (!details.askedBy) throw new MeanwhileError("invalid_input", "A step's result was given, but no step asked.")
        const { taskId, run, key } = details.askedBy
        finishStep(tables, requireLiveRun(tasks, { taskId, run }), { key, result: askingStepResult }, change)
      }
      takeChildren(tables, task, children)
      const hasMore = steps.length > 0 || children.length > 0
      return { task: toTaskRecord(hasMore ? requireTask(tasks, details.id) : task), created: true }
    },
  } satisfies Partial<Handlers>
}

function findKnown({ tasks }: Tables, { workspace, idempotencyKey, askedBy }: TaskDetails): StoredTask | undefined {
  const known = idempotencyKey === null ? undefined : tasks.findByIdempotencyKey(workspace, idempotencyKey)
  return known ?? (askedBy ? tasks.findByAskingStep(askedBy) : undefined)
}

/** Refuses an asking step of another workspace's task, which can be neither answered nor finished from here. */
function requireOwnStep({ tasks }: Tables, { workspace, askedBy }: TaskDetails): void {
  const asking = askedBy ? tasks.find(askedBy.taskId)?.details : undefined
  if (asking && asking.workspace !== workspace) throw notFound("task", asking.id)
}

function joinGroup({ groups }: Tables, { group, workspace }: TaskDetails, change: Change): void {
  if (group === null) return
  const found = groups.entryOf(group)
  if (found?.workspace !== workspace) throw notFound("group", group)
  const { state } = found
  if (state !== "open") {
    const text = `Group ${group} is ${state} and takes no more tasks. Start the task without it or in another group.`
    throw new MeanwhileError("wrong_state", text, { groupId: group, state })
  }
  groups.addMember(group)
  wakeGroup(change, group)
}

/** The state in which a new task begins, and the events after `task.queued` that led to it. */
function toFirstState(
  entry: TaskEntry,
  now: number,
): { readonly state: RunState; readonly entered: readonly TaskEventBody[] } {
  switch (entry.as) {
    case "queued":
      return { state: { status: "queued", availableAt: now + (entry.delayMs ?? 0) }, entered: [] }
    case "running": {
      const { worker } = entry
      return { state: { status: "running", worker }, entered: [{ type: "task.started", worker }] }
    }
    case "waiting": {
      const { wait } = entry
      return { state: { status: "waiting", wait }, entered: [{ type: "task.waited", wait }] }
    }
  }
}

/** The fields that are empty when a run begins. */
const NOTHING_YET = { startedAt: null, ranMs: 0, progress: null, retrievedAt: null, strippedAt: null }

function toCourse(entry: TaskEntry, now: number, lastSequence: number): TaskCourse {
  const isRunning = entry.as === "running"
  return {
    ...NOTHING_YET,
    run: 1,
    fence: isRunning ? 1 : 0,
    queuedAt: now,
    startedAt: isRunning ? (entry.startedAt ?? now) : null,
    createdAt: now,
    lastSequence,
    usage: NO_USAGE,
    resumeCount: 0,
    hasChildren: false,
  }
}

export function createBeginRunHandlers(tables: Tables) {
  const { tasks, events, runs, notices, groups } = tables
  return {
    "task.begin_run"({ taskId, afterRun, reason, title, folder, input, inputHeldBy, metadata, wait }, change) {
      const task = requireTask(tasks, taskId)
      const { number, details, course, state } = task
      if (course.run !== afterRun) throw wrongState(task, `run ${afterRun} is not the current one`)
      if (!isTerminal(state.status)) throw wrongState(task, "the run has not ended")
      if (course.strippedAt !== null && input === undefined)
        throw wrongState(task, "its input is gone, so it can only be started anew")
      requireNoneStoppedAbove(tables, details.parentTask)
      runs.save(number, toTaskRecord(task))
      notices.supersede(number, "ended", change.now)
      if (details.group !== null) groups.depart(details.group, number)

      const begun: StoredTask = {
        ...task,
        details: {
          ...details,
          title: title ?? details.title,
          folder: folder === undefined ? details.folder : folder,
          input: input === undefined ? details.input : input,
          inputHeldBy: inputHeldBy === undefined ? details.inputHeldBy : inputHeldBy,
          metadata: metadata ?? details.metadata,
        },
        course: {
          ...course,
          ...NOTHING_YET,
          run: course.run + 1,
          queuedAt: change.now,
          lastSequence: course.lastSequence + (wait ? 2 : 1),
          resumeCount: course.resumeCount + (reason === "resume" ? 1 : 0),
        },
        state: wait ? { status: "waiting", wait } : { status: "queued", availableAt: change.now },
      }
      const { run, lastSequence } = begun.course
      events.append(number, course.lastSequence + 1, run, change.now, { type: "task.queued" })
      if (wait) events.append(number, lastSequence, run, change.now, { type: "task.waited", wait })
      tasks.saveRun(begun)
      tasks.saveDetails(begun)
      if (input !== undefined || metadata !== undefined) tasks.saveInput(begun)
      applyEffects(tables, undefined, begun, change)
      wakeTask(change, taskId, lastSequence)
      return toTaskRecord(begun)
    },
  } satisfies Partial<Handlers>
}
