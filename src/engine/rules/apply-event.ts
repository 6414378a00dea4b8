import { MeanwhileError } from "../../base/error.ts"
import { type LifecycleEvent, toLogged, type FactEvent } from "../../task/event.ts"
import { isJoinMet } from "../../task/group.ts"
import type { GroupId } from "../../task/id.ts"
import { isTerminal, type TerminalStatus, transition, withFacts, withLatePatch } from "../../task/lifecycle.ts"
import type { RunState, TaskRecord } from "../../task/record.ts"
import type { Wait, WaitReason } from "../../task/wait.ts"
import { type Change, type Handlers, wakeGroup, wakeLiveTask, wakeSession, wakeTask } from "./change.ts"
import { requireTask, staleClaim, wrongState, isClaimedUnder, notFound } from "./refusal.ts"
import { type StoredTask, type Tables, toTaskRecord } from "./tables.ts"

export function createApplyHandlers(tables: Tables) {
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
  } satisfies Partial<Handlers>
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

/** Waits that a person can answer. A notice tells the session that the task needs somebody. */
const ASKS_SOMEONE: ReadonlySet<WaitReason> = new Set(["person", "approval"])

/** The consequences of a run's new status: the offer, the wait, the notice, the group arrival. */
export function applyEffects(tables: Tables, before: RunState | undefined, task: StoredTask, change: Change): void {
  const { state } = task
  if (before?.status === "waiting" && isTerminal(state.status)) closeWait(tables, task, before.wait, change)
  if (state.status === "queued") change.hasOffers = true
  else if (state.status === "waiting") openWait(tables, task, state.wait, change)
  else if (isTerminal(state.status)) endRun(tables, task, state.status, change)
}

function openWait(tables: Tables, task: StoredTask, wait: Wait, change: Change): void {
  tables.waits.open(task, wait, change.now)
  if (!ASKS_SOMEONE.has(wait.reason) || task.details.kind === "turn") return
  tables.notices.insert(task, "needs_answer", change.now)
  wakeSession(change, task.details.session)
}

/** The run ended before the answer: nobody has to answer any more. */
function closeWait(tables: Tables, task: StoredTask, wait: Wait, change: Change): void {
  tables.waits.withdraw(wait.id)
  tables.notices.supersede(task.number, "needs_answer", change.now)
}

/**
 * A turn sends no notice, because its own session already shows its end. A member of a group that reports nothing sends
 * a silent notice, which is never told by itself, so it does not stand in the way of notices that are.
 */
function endRun(tables: Tables, task: StoredTask, status: TerminalStatus, change: Change): void {
  const { number, details, course } = task
  if (details.kind !== "turn") {
    const isSilent = details.group !== null && tables.groups.isSilent(details.group)
    tables.notices.insert(task, "ended", change.now, isSilent ? "silent" : details.notify)
    wakeSession(change, details.session)
  }
  if (details.group === null) return
  tables.groups.arrive(details.group, number, { taskId: details.id, run: course.run, status })
  joinWhenMet(tables, details.group, change)
  wakeGroup(change, details.group)
}

/** Joins a sealed group once enough of its members have ended, in the transaction of the last of them or of the seal. */
export function joinWhenMet({ groups }: Tables, id: GroupId, change: Change): boolean {
  const standing = groups.standingOf(id)
  if (!standing || !isJoinMet(standing)) return false
  groups.move(id, "joined")
  wakeSession(change, standing.session)
  return true
}

export function createNoteHandlers(tables: Tables) {
  return {
    "task.note"({ run: { taskId, run, fence }, facts }, change) {
      const task = requireTask(tables.tasks, taskId)
      if (fence !== undefined && !isClaimedUnder(task, run, fence)) throw staleClaim(task)
      if (run > task.course.run || run < 1) throw notFound("run", `${taskId}/${run}`)
      let sequence = task.course.lastSequence
      for (const fact of facts) tables.events.append(task.number, ++sequence, run, change.now, fact)
      const counted = { ...task, course: { ...task.course, lastSequence: sequence } }
      const noted = run === task.course.run ? withFacts(counted, facts, change.now) : withEarlierRun(counted)
      tables.tasks.saveFacts(noted)
      if (facts.length > 0) wakeTask(change, taskId, sequence)
      return { lastSequence: sequence, usage: noted.course.usage }

      /** The usage of an earlier run counts for the task; a late patch belongs to that run alone. */
      function withEarlierRun(current: StoredTask): StoredTask {
        const earlier = tables.runs.find(current.number, run)
        if (earlier) tables.runs.save(current.number, withLateResult(earlier, facts))
        return withFacts(
          current,
          facts.filter(({ type }) => type === "task.spent"),
          change.now,
        )
      }
    },
  } satisfies Partial<Handlers>
}

function withLateResult(record: TaskRecord, facts: readonly FactEvent[]): TaskRecord {
  return facts.reduce(
    (known, fact) => (fact.type === "task.finished_late" ? withLatePatch(known, fact.patch) : known),
    record,
  )
}

export function createWaitHandlers(tables: Tables) {
  const { tasks, waits, notices } = tables
  return {
    "wait.answer"({ waitId, answer, answeredBy }, change) {
      const wait = waits.find(waitId)
      if (!wait) throw notFound("wait", waitId)
      if (wait.state !== "open") {
        const text = `Wait ${waitId} of task ${wait.taskId} is ${wait.state} already; the answer was not used.`
        throw new MeanwhileError("wrong_state", text, { waitId, state: wait.state })
      }
      const task = requireTask(tasks, wait.taskId)
      waits.answer(waitId, answer, answeredBy, change.now)
      notices.supersede(task.number, "needs_answer", change.now)
      return toTaskRecord(moveRun(tables, task, { type: "task.answered", waitId }, change))
    },
  } satisfies Partial<Handlers>
}
