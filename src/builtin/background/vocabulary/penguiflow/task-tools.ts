import { z } from "zod"
import { RUN_STATUSES } from "../../../../task/lifecycle.ts"
import { answer, answerList } from "../answer.ts"
import { toBelow, toShortId } from "../task-facts.ts"
import { defineVocabularyTool, taskId, type VocabularyTool } from "../vocabulary.ts"
import { toTaskDetails, toTaskFacts, toTaskResult } from "./task-facts.ts"

export const createTaskTools = (): readonly VocabularyTool[] => [
  defineVocabularyTool({
    name: "tasks.list",
    description: () =>
      "Lists the background tasks of this conversation, the newest first, each followed by those that it started.",
    input: z.strictObject({ status: z.enum(RUN_STATUSES).optional().describe("Only those with this status.") }),
    isAutoApproved: true,
    async run({ status }, operations) {
      const tasks = await operations.listFamily(status === undefined ? {} : { statuses: [status] })
      return answerList(tasks, toTaskFacts, "a status")
    },
  }),
  defineVocabularyTool({
    name: "tasks.get",
    description: () =>
      "Shows how a task stands and, with include_result, all it came to. Answers at once. Not needed to learn of the " +
      "end: that is told by itself.",
    input: z.strictObject({
      task_id: taskId(),
      include_result: z.boolean().default(false).describe("With the result; it then counts as used."),
    }),
    isAutoApproved: true,
    title: ({ task_id: id }) => `look at task ${id}`,
    async run({ task_id: id, include_result: isWhole }, operations) {
      const view = isWhole ? await operations.read(id) : await operations.look(id)
      const below = toBelow(await operations.below(view.task))
      const facts = isWhole ? toTaskResult(view) : toTaskDetails(view)
      return answer(`${view.task.title}: ${view.task.status}`, { ...facts, ...below })
    },
  }),
  defineVocabularyTool({
    name: "tasks.cancel",
    description: () => "Stops a task of this conversation.",
    input: z.strictObject({
      task_id: taskId(),
      reason: z.string().trim().min(1).max(500).optional().describe("Why, for the record."),
    }),
    isAutoApproved: false,
    title: ({ task_id: id }) => `cancel task ${id}`,
    async run({ task_id: id, reason }, operations) {
      const task = await operations.cancel(id, reason)
      const ok = task.status === "stopping" || task.status === "cancelled"
      return answer(`${toShortId(task.id)} is ${task.status}`, { ok, ...toTaskFacts(task) })
    },
  }),
  defineVocabularyTool({
    name: "tasks.prioritize",
    description: () => "Changes the priority of a task that waits for its turn: higher runs first.",
    input: z.strictObject({ task_id: taskId(), priority: z.number().int().min(-1_000).max(1_000) }),
    isAutoApproved: false,
    title: ({ task_id: id, priority }) => `priority ${priority} for task ${id}`,
    async run({ task_id: id, priority }, operations) {
      const task = await operations.prioritize(id, priority)
      return answer(`${toShortId(task.id)} has priority ${task.priority}`, { ok: true, ...toTaskFacts(task) })
    },
  }),
  defineVocabularyTool({
    name: "tasks.acknowledge_background",
    description: () =>
      "Says that you have used the results of background tasks, so that they are not told to you again. Call it after " +
      "you have put them into your answer.",
    input: z.strictObject({ task_ids: z.array(taskId()).min(1).max(100) }),
    isAutoApproved: true,
    async run({ task_ids: ids }, operations) {
      const { known, unknown, used } = await operations.acknowledge(ids)
      const facts = { acknowledged: known, cleaned_up: used, ...(unknown.length > 0 && { unknown }) }
      return answer(`acknowledged ${used}`, facts)
    },
  }),
]
