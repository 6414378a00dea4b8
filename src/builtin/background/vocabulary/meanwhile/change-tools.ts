import { z } from "zod"
import { MeanwhileError } from "../../../../base/error.ts"
import { answer } from "../answer.ts"
import { toOutlived, toShortId } from "../task-facts.ts"
import { timeoutSeconds, toLimitFacts, toTimeoutMs } from "../time-limit.ts"
import { defineVocabularyTool, taskId, type VocabularyTool } from "../vocabulary.ts"
import { groupId } from "./read-tools.ts"
import { toGroupFacts, toTaskFacts } from "./task-facts.ts"

const LONGEST_MESSAGE = 64 * 1024

export const createChangeTools = (): readonly VocabularyTool[] => [
  defineVocabularyTool({
    name: "cancel_task",
    description: () => "Stops a task of this conversation, or all tasks of a group.",
    input: z
      .strictObject({ task_id: taskId().optional(), group: groupId().optional() })
      .refine(({ task_id: id, group }) => (id === undefined) !== (group === undefined), {
        error: "give either task_id or group",
      }),
    isAutoApproved: false,
    title: ({ task_id: id, group }) => `cancel ${id === undefined ? `group ${group}` : `task ${id}`}`,
    async run({ task_id: id, group }, operations) {
      if (id !== undefined) {
        const task = await operations.cancel(id)
        const outlived = toOutlived(await operations.look(task.id))
        return answer(`${toShortId(task.id)} is ${task.status}`, { ...toTaskFacts(task), ...outlived })
      }
      if (group === undefined) throw new MeanwhileError("invalid_input", "Give either task_id or group.")
      const cancelled = await operations.groups.cancel(group)
      return answer(`group ${cancelled.name} is ${cancelled.state}`, toGroupFacts(cancelled))
    },
  }),
  defineVocabularyTool({
    name: "limit_task",
    description: () => "Changes how long a task of this conversation may run in all, while it runs or waits.",
    input: z.strictObject({ task_id: taskId(), timeout_seconds: timeoutSeconds() }),
    isAutoApproved: false,
    title: ({ task_id: id, timeout_seconds: seconds }) =>
      seconds === 0 ? `no time limit for task ${id}` : `a time limit of ${seconds} s for task ${id}`,
    async run({ task_id: id, timeout_seconds: seconds }, operations) {
      const task = await operations.limit(id, toTimeoutMs(seconds) ?? null)
      return answer(`${toShortId(task.id)} has another limit`, { ...toTaskFacts(task), ...toLimitFacts(task) })
    },
  }),
  defineVocabularyTool({
    name: "send_to_task",
    description: () =>
      "Says something to an agent that you started: one that works reads it before its next step, one that has " +
      "completed goes on in its own conversation.",
    input: z.strictObject({ task_id: taskId(), message: z.string().trim().min(1).max(LONGEST_MESSAGE) }),
    isAutoApproved: false,
    needsAgents: true,
    // An agent that is told the same twice does it twice.
    onCrash: "fail",
    title: ({ task_id: id }) => `tell task ${id}`,
    async run({ task_id: id, message }, operations) {
      const { task, how } = await operations.send(id, message)
      const note =
        how === "steered"
          ? "It reads that before its next step."
          : "It works on that now, in its own conversation. Its result comes back to you by itself."
      return answer(`${how} ${toShortId(task.id)}`, { ...toTaskFacts(task), note })
    },
  }),
  defineVocabularyTool({
    name: "seal_group",
    description: () =>
      "Says that a group gets no more tasks, so that it is told of when those in it have ended. Groups are sealed by " +
      "themselves when your turn ends.",
    input: z.strictObject({ group: groupId() }),
    isAutoApproved: true,
    async run({ group }, operations) {
      const sealed = await operations.groups.seal(group)
      return answer(`group ${sealed.name} is ${sealed.state}`, toGroupFacts(sealed))
    },
  }),
]
