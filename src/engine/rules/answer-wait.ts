import { MeanwhileError } from "../../base/error.ts"
import { toTaskRecord } from "./stored-task.ts"
import type { Tables } from "./tables.ts"
import { moveRun } from "./apply-event.ts"
import type { Handlers } from "./handler.ts"
import { notFound, requireTask } from "./refusal.ts"

export function createWaitHandlers(tables: Tables): Pick<Handlers, "wait.answer"> {
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
  }
}
