import { z } from "zod"
import { MeanwhileError } from "../../../../base/error.ts"
import { lazily } from "../../../../base/lazily.ts"
import { LIVE_STATUSES } from "../../../../task/lifecycle.ts"
import { answer } from "../answer.ts"
import type { TaskOperations } from "../../operations/task-operations.ts"
import { defineVocabularyTool, taskId, type VocabularyTool } from "../vocabulary.ts"
import { batchId, findBatch } from "./read-tools.ts"
import { IN_ANSWERS } from "./task-facts.ts"
import { withoutMark } from "./task-list.ts"

const WHICH = "give exactly one of task_id, batch and all: true"

const cancelFields = lazily(() =>
  z.strictObject({
    task_id: taskId().optional(),
    batch: batchId().optional(),
    all: z.boolean().optional().describe("All that run of this conversation."),
  }),
)

type CancelFields = z.output<ReturnType<typeof cancelFields>>

export const createChangeTools = (): readonly VocabularyTool[] => [
  defineVocabularyTool({
    name: "background_cancel",
    description: () =>
      "Stops a task of this conversation, all of a batch, or all that run. What it had come to is in the answer.",
    input: cancelFields().refine((input) => countNamed(input) === 1, { error: WHICH }),
    isAutoApproved: false,
    title: ({ task_id: id, batch }) => `cancel ${id ?? (batch === undefined ? "all tasks" : `batch ${batch}`)}`,
    async run(input, operations) {
      const ids = await findWanted(input, operations)
      await Promise.all(ids.map((id) => operations.cancelAndLook(id)))
      const views = await Promise.all(ids.map((id) => operations.look(id)))
      const cancelled = views.filter(({ task }) => task.status === "cancelled").length
      const { tasks, note } = await operations.show(views, IN_ANSWERS)
      return answer(`${cancelled} of ${views.length} cancelled`, { cancelled, tasks, ...(note !== "" && { note }) })
    },
  }),
  defineVocabularyTool({
    name: "background_clear",
    description: () =>
      "Removes the tasks of this conversation that have ended, with their results, whether you have read them or not. " +
      "Those that run stay.",
    input: z.strictObject({ batch: batchId().optional().describe("Only those of this batch.") }),
    isAutoApproved: false,
    title: () => "clear ended tasks",
    async run({ batch }, operations) {
      const filter = batch === undefined ? {} : { batch }
      const cleared = await operations.clear(filter)
      const live = await operations.list({ ...filter, statuses: LIVE_STATUSES })
      return answer(`cleared ${cleared} tasks`, { cleared, still_running: live.length })
    },
  }),
]

function countNamed({ task_id: id, batch, all = false }: CancelFields): number {
  return [id !== undefined, batch !== undefined, all].filter((isNamed) => isNamed).length
}

async function findWanted({ task_id: id, batch, all }: CancelFields, operations: TaskOperations) {
  if (id !== undefined) return [withoutMark(id)]
  if (batch !== undefined) return findBatch(operations, batch)
  if (!all) throw new MeanwhileError("invalid_input", `To cancel, ${WHICH}.`)
  return (await operations.listWork({ statuses: LIVE_STATUSES })).map((task) => task.id)
}
