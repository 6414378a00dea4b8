import { isTerminal } from "../../task/lifecycle.ts"
import { type StoredTask, toTaskRecord } from "./stored-task.ts"
import type { Tables } from "./tables.ts"
import { wakeTask } from "./change.ts"
import type { Handlers } from "./handler.ts"
import { requireTask, wrongState } from "./refusal.ts"

export function createBeginRunHandlers(tables: Tables): Pick<Handlers, "task.begin_run"> {
  const { tasks, events, runs, notices, groups } = tables
  return {
    "task.begin_run"({ taskId, afterRun, reason, title, folder, input, inputHeldBy, metadata }, change) {
      const task = requireTask(tasks, taskId)
      const { number, details, course, state } = task
      if (course.run !== afterRun) throw wrongState(task, `run ${afterRun} is not the current one`)
      if (!isTerminal(state.status)) throw wrongState(task, "the run has not ended")
      if (course.strippedAt !== null && input === undefined)
        throw wrongState(task, "its input is gone, so it can only be started anew")
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
          run: course.run + 1,
          queuedAt: change.now,
          startedAt: null,
          ranMs: 0,
          lastSequence: course.lastSequence + 1,
          progress: null,
          resumeCount: course.resumeCount + (reason === "resume" ? 1 : 0),
          retrievedAt: null,
          strippedAt: null,
        },
        state: { status: "queued", availableAt: change.now },
      }
      events.append(number, begun.course.lastSequence, begun.course.run, change.now, { type: "task.queued" })
      tasks.saveRun(begun)
      tasks.saveDetails(begun)
      if (input !== undefined || metadata !== undefined) tasks.saveInput(begun)
      change.hasOffers = true
      wakeTask(change, taskId, begun.course.lastSequence)
      return toTaskRecord(begun)
    },
  }
}
