import type { FactEvent } from "../../task/event.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { StoredTask } from "./stored-task.ts"
import type { Tables } from "./tables.ts"
import { wakeTask } from "./change.ts"
import { withFacts, withLatePatch } from "../../task/transition.ts"
import type { Handlers } from "./handler.ts"
import { isClaimedUnder, notFound, requireTask, staleClaim } from "./refusal.ts"

export function createNoteHandlers(tables: Tables): Pick<Handlers, "task.note"> {
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
  }
}

function withLateResult(record: TaskRecord, facts: readonly FactEvent[]): TaskRecord {
  return facts.reduce(
    (known, fact) => (fact.type === "task.finished_late" ? withLatePatch(known, fact.patch) : known),
    record,
  )
}
