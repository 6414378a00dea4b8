import { z } from "zod"
import type { JsonObject } from "../../../../base/json.ts"
import { MeanwhileError } from "../../../../base/error.ts"
import { lazily } from "../../../../base/lazily.ts"
import type { ListedTask, TaskView } from "../../../../plugin/task-service.ts"
import { showModel } from "../../../../plugin/tool.ts"
import type { WaitAnswer } from "../../../../plugin/wait-request.ts"
import { isTerminal } from "../../../../task/lifecycle.ts"
import { answer } from "../answer.ts"
import { toBelow } from "../task-facts.ts"
import type { TaskOperations } from "../../operations/task-operations.ts"
import { defineVocabularyTool, taskId, type VocabularyTool } from "../vocabulary.ts"
import { IN_ANSWERS, toStatus, toTaskFacts } from "./task-facts.ts"
import { toListText, withoutMark } from "./task-list.ts"

const DEFAULT_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 600_000
const STATUSES = ["running", "completed", "error", "cancelled", "resumed"] as const

export const batchId = lazily(() =>
  z.string().trim().min(1).max(200).describe("The batch_id of tasks that were launched together."),
)

export const createReadTools = (): readonly VocabularyTool[] => [
  defineVocabularyTool({
    name: "background_output",
    description: () =>
      "Shows the status of a task, or of all tasks of a batch: progress while it runs, the result when it has ended. " +
      "Answers at once, unless `block` is true: then it waits for the end, at no cost. Not needed to learn of the end: " +
      "that comes by itself.",
    input: z
      .strictObject({
        task_id: taskId().optional(),
        batch: batchId().optional(),
        block: z.boolean().default(false).describe("Wait until it has ended."),
        timeout: z
          .number()
          .int()
          .positive()
          .max(LONGEST_WAIT_MS)
          .default(DEFAULT_WAIT_MS)
          .describe("With `block`: for at most so many milliseconds."),
      })
      .refine(({ task_id: id, batch }) => (id === undefined) !== (batch === undefined), {
        error: "give either task_id or batch",
      }),
    isAutoApproved: true,
    waitsMs: ({ block, timeout }) => (block ? timeout : 0),
    title: ({ task_id: id, batch }) => `output of ${id ?? `batch ${batch}`}`,
    async run({ task_id: id, batch, block, timeout }, operations) {
      const ids = id === undefined ? await findBatch(operations, batch ?? "") : [withoutMark(id)]
      const waited = block ? await operations.wait({ tasks: ids, limitMs: timeout }) : null
      const views = waited?.tasks ?? (await Promise.all(ids.map((each) => operations.look(each))))
      const [alone] = views
      if (batch !== undefined || !alone) {
        const shown = await operations.show(views, IN_ANSWERS)
        const tasks = { batch_id: batch ?? null, tasks: shown.tasks }
        return answer(`${views.length} tasks of a batch`, { ...tasks, ...toNote(waited, shown.note) })
      }
      const view = await withRetrieval(operations, await operations.read(alone.task.id))
      const facts = { ...toTaskFacts(view), ...toBelow(await operations.below(view.task)) }
      return answer(`${view.task.title}: ${toStatus(view.task)}`, { ...facts, ...toNote(waited) })
    },
  }),
  defineVocabularyTool({
    name: "background_list",
    description: () =>
      'Lists the background tasks of this conversation, the newest first, and indented below each what it started. "(resumed)" after an id: its agent was asked ' +
      "more after it had completed.",
    input: z.strictObject({
      status: z.enum(STATUSES).optional().describe("Only those with this status."),
      batch: batchId().optional().describe("Only those of this batch."),
    }),
    isAutoApproved: true,
    async run({ status, batch }, operations) {
      const isWanted = (task: ListedTask): boolean => status === undefined || toStatus(task) === status
      const tasks = await operations.listFamily(batch === undefined ? {} : { batch }, isWanted)
      return showModel([{ type: "text", text: toListText(tasks) }], `${tasks.length} background tasks`)
    },
  }),
]

/** The ids of a batch's tasks. Refused as `not_found` if the batch has none. */
export async function findBatch(operations: TaskOperations, batch: string): Promise<readonly string[]> {
  const tasks = await operations.list({ batch })
  if (tasks.length > 0) return tasks.map(({ id }) => id)
  const message = `There is no task of the batch ${JSON.stringify(batch)} here. background_list shows the batches.`
  throw new MeanwhileError("not_found", message, { batch })
}

/** Reads a task again if reading its result has only now marked it as retrieved: the new record says so. */
async function withRetrieval(operations: TaskOperations, view: TaskView): Promise<TaskView> {
  const { id, status, retrievedAt } = view.task
  return isTerminal(status) && retrievedAt === null ? operations.look(id) : view
}

const NOTES: Readonly<Record<WaitAnswer["reason"], string>> = {
  met: "",
  cancelled: "",
  needs_answer: "It waits for an answer: the person sees it in the inbox. You will be told how it ends.",
  released: "The person said something: look at that first. What runs goes on, and its result comes back by itself.",
  time: "The time is over. It goes on, and its result comes back to you by itself: go on with other work.",
}

function toNote(waited: WaitAnswer | null, more = ""): JsonObject {
  const note = [waited ? NOTES[waited.reason] : "", more].filter((part) => part !== "").join(" ")
  return note === "" ? {} : { note }
}
