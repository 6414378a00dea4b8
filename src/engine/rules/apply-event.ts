import { MeanwhileError } from "../../base/error.ts"
import type { FactEvent, LifecycleEvent } from "../../task/event.ts"
import { withFacts, withLatePatch } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import { type Change, type Handlers, wakeTask } from "./change.ts"
import { moveRunAlone } from "./move-run.ts"
import { requireTask, staleClaim, wrongState, isClaimedUnder, notFound } from "./refusal.ts"
import { settleBelow } from "./settle-below.ts"
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
      const limitMs = event.type === "task.stop_requested" ? event.limitMs : undefined
      if (limitMs !== undefined && limitMs !== task.details.limits.timeoutMs) {
        throw wrongState(task, `its time limit is not ${limitMs} ms any more`)
      }
      return toTaskRecord(moveRun(tables, task, event, change))
    },
  } satisfies Partial<Handlers>
}

/** Moves a run and settles what is below its task, in one transaction. */
export function moveRun(tables: Tables, task: StoredTask, event: LifecycleEvent, change: Change): StoredTask {
  return settleBelow(tables, moveRunAlone(tables, task, event, change), event, change)
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
