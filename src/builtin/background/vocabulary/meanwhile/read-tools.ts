import { z } from "zod"
import { defined } from "../../../../base/defined.ts"
import type { JsonObject } from "../../../../base/json.ts"
import { lazily } from "../../../../base/lazily.ts"
import type { OutputChunk } from "../../../../plugin/output.ts"
import type { WaitAnswer } from "../../../../plugin/wait-request.ts"
import { isTerminal, RUN_STATUSES } from "../../../../task/lifecycle.ts"
import type { TaskRecord } from "../../../../task/record.ts"
import { answer, answerList } from "../answer.ts"
import { toBelow } from "../task-facts.ts"
import type { TaskOperations } from "../../operations/task-operations.ts"
import { defineVocabularyTool, taskId, type VocabularyTool } from "../vocabulary.ts"
import { IN_ANSWERS, toGroupFacts, toTaskDetails, toTaskFacts } from "./task-facts.ts"

const OUTPUT_BYTES = 16 * 1024
const LIVE_TAIL_BYTES = 2 * 1024
const DEFAULT_LIMIT_SECONDS = 300
const LONGEST_LIMIT_SECONDS = 3_600

export const groupId = lazily(() =>
  z.string().trim().min(1).max(100).describe("The name of a group of yours, or its id."),
)

export const createReadTools = (): readonly VocabularyTool[] => [
  defineVocabularyTool({
    name: "get_task",
    description: () =>
      "Shows a task as it is now: status, progress, what it printed and, when it has ended, its result. Answers at " +
      "once. Not needed to learn of the end: that is told by itself.",
    input: z.strictObject({
      task_id: taskId(),
      offset: z.number().int().nonnegative().optional().describe("Show what it printed from this byte on."),
      tail: z
        .number()
        .int()
        .positive()
        .max(OUTPUT_BYTES)
        .optional()
        .describe("Show this many bytes from the end of the output."),
    }),
    isAutoApproved: true,
    title: ({ task_id: id }) => `look at task ${id}`,
    async run({ task_id: id, offset, tail }, operations) {
      const view = await operations.read(id)
      const { task } = view
      const output = await readOutput(operations, task, offset, tail)
      const below = toBelow(await operations.below(task))
      return answer(`${task.title}: ${task.status}`, { ...toTaskDetails(view), ...output, ...below })
    },
  }),
  defineVocabularyTool({
    name: "list_tasks",
    description: () =>
      "Lists the background tasks of this conversation, the newest first, each followed by those that it started.",
    input: z.strictObject({
      status: z
        .union([z.enum(RUN_STATUSES), z.array(z.enum(RUN_STATUSES))])
        .optional()
        .describe("Only those with this status."),
      group: groupId().optional().describe("Only those of this group."),
    }),
    isAutoApproved: true,
    async run({ status, group }, operations) {
      const tasks = await operations.listFamily(defined({ statuses: status && [status].flat(), group }))
      return answerList(tasks, toTaskFacts, "a status or a group")
    },
  }),
  defineVocabularyTool({
    name: "wait_for",
    description: () =>
      "Holds this turn until tasks have ended, and shows their results. It costs nothing while it waits, and ends " +
      "early when the person says something or a task needs an answer. Only for what you cannot go on without: " +
      "results come back by themselves anyway.",
    input: z.strictObject({
      tasks: z
        .array(taskId())
        .min(1)
        .max(100)
        .optional()
        .describe("Default: all of this conversation that you have not heard of."),
      group: groupId().optional().describe("Instead of tasks: until this group is sealed and joined."),
      pattern: z.string().min(1).max(500).optional().describe("Of one task: until a line that it prints holds this."),
      until: z
        .union([z.enum(["all", "any"]), z.number().int().positive()])
        .optional()
        .describe("How many of them. Default all."),
      limit_seconds: z.number().positive().max(LONGEST_LIMIT_SECONDS).default(DEFAULT_LIMIT_SECONDS),
    }),
    isAutoApproved: true,
    waitsMs: ({ limit_seconds: seconds }) => seconds * 1_000,
    async run({ limit_seconds: seconds, tasks, group, pattern, until }, operations) {
      const waited = await operations.wait(defined({ limitMs: seconds * 1_000, tasks, group, pattern, until }))
      return answer(HEADLINES[waited.reason], await toWaitFacts(waited, operations))
    },
  }),
  defineVocabularyTool({
    name: "acknowledge",
    description: () => "Says that you know what these tasks came to: it is not told to you any more.",
    input: z.strictObject({ task_ids: z.array(taskId()).min(1).max(100) }),
    isAutoApproved: true,
    async run({ task_ids: ids }, operations) {
      const { used, unknown } = await operations.acknowledge(ids)
      return answer(`${used} acknowledged`, { acknowledged: used, ...(unknown.length > 0 && { unknown }) })
    },
  }),
]

const HEADLINES: Readonly<Record<WaitAnswer["reason"], string>> = {
  met: "they have ended",
  cancelled: "the group was cancelled",
  needs_answer: "one of them waits for an answer",
  released: "something new was said",
  time: "they go on",
}

const NOTES: Readonly<Record<WaitAnswer["reason"], string>> = {
  met: "",
  cancelled: "The group was cancelled.",
  needs_answer: "One of them waits for an answer: the person sees it in the inbox. The others go on.",
  released: "The person said something: look at that first. What runs goes on, and its result comes back by itself.",
  time: "The time is over. What runs goes on, and its result comes back by itself: go on with other work.",
}

async function toWaitFacts({ reason, tasks, group, match }: WaitAnswer, operations: TaskOperations) {
  const shown = await operations.show(tasks, IN_ANSWERS)
  const note = [NOTES[reason], shown.note].filter((part) => part !== "").join(" ")
  return {
    reason,
    tasks: shown.tasks,
    ...(group && { group: toGroupFacts(group) }),
    ...(match?.outcome === "matched" && { line: match.line }),
    ...(note !== "" && { note }),
  } satisfies JsonObject
}

/** Reads the requested range of output. Default: the tail of a live task; nothing of an ended one, whose result has it. */
async function readOutput(
  operations: TaskOperations,
  { id, status }: TaskRecord,
  offset: number | undefined,
  tail: number | undefined,
): Promise<JsonObject> {
  if (offset !== undefined) return toOutput(await operations.output(id, { offset, limitBytes: OUTPUT_BYTES }))
  if (tail !== undefined) return toOutput(await operations.output(id, { tailBytes: tail }))
  if (isTerminal(status)) return {}
  const chunk = await operations.output(id, { tailBytes: LIVE_TAIL_BYTES })
  return chunk.text === "" ? {} : toOutput(chunk)
}

function toOutput({ text, offset, nextOffset, totalBytes, droppedBefore, restartedAt }: OutputChunk): JsonObject {
  return {
    output: {
      text,
      offset,
      next_offset: nextOffset,
      total_bytes: totalBytes,
      ...(droppedBefore !== null && { dropped_before: droppedBefore }),
      ...(restartedAt !== null && { restarted_at: restartedAt }),
    },
  }
}
