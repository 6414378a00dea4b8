import { z } from "zod"
import { defined } from "../../../../base/defined.ts"
import { isMeanwhileError, MeanwhileError } from "../../../../base/error.ts"
import { lazily } from "../../../../base/lazily.ts"
import { toOneLine } from "../../../../base/one-line.ts"
import type { ToolReturn } from "../../../../plugin/tool.ts"
import { answer } from "../answer.ts"
import { toShortId } from "../task-facts.ts"
import type { Started } from "../../operations/start-task.ts"
import type { TaskOperations } from "../../operations/task-operations.ts"
import { defineVocabularyTool, type VocabularyTool } from "../vocabulary.ts"
import { COMES_BY_ITSELF, NEEDS_APPROVAL } from "../vocabulary-text.ts"
import { toStatus } from "./task-facts.ts"
import { withoutMark } from "./task-list.ts"

const LONGEST_TEXT = 64 * 1024

const inputSchema = lazily(() =>
  z
    .strictObject({
      description: z.string().overwrite(toOneLine).min(1).max(200).optional().describe("What it does, in a few words."),
      prompt: z.string().trim().min(1).max(LONGEST_TEXT).describe("The whole task, or with `resume` the follow-up."),
      agent: z.string().min(1).max(64).optional().describe("The profile of the agent. Without it, an agent like you."),
      resume: z
        .string()
        .trim()
        .min(1)
        .max(64)
        .optional()
        .describe("The id of a completed task, whose agent goes on with `prompt`. Leave description and agent out."),
    })
    .refine(({ description, resume }) => description !== undefined || resume !== undefined, {
      path: ["description"],
      error: "say in a few words what the task does",
    })
    .refine(({ agent, resume }) => agent === undefined || resume === undefined, {
      path: ["agent"],
      error:
        "a task that is resumed goes on with its own agent: leave `agent` out, or start a new task without `resume`",
    }),
)

type TaskInput = z.output<ReturnType<typeof inputSchema>>

export const createTaskTool = (): VocabularyTool =>
  defineVocabularyTool({
    name: "background_task",
    description: () =>
      "Launches an agent in the background, and answers at once with the id of its task. With `resume` it sends a " +
      `follow-up to the agent of a completed task, which has its whole conversation before it. ${COMES_BY_ITSELF}`,
    input: inputSchema(),
    isAutoApproved: false,
    needsAgents: true,
    // A launch would be found again, but a follow-up that is sent twice is answered twice.
    onCrash: "fail",
    title: ({ description, resume }) => `background task: ${description ?? `resume ${resume}`}`,
    run: (input, operations) =>
      input.resume === undefined ? launch(input, operations) : resume(input.resume, input.prompt, operations),
  })

async function launch({ description, prompt, agent }: TaskInput, operations: TaskOperations): Promise<ToolReturn> {
  const started = await operations.startAgent(defined({ task: prompt, title: description, profile: agent }))
  const { task } = started
  const id = toShortId(task.id)
  const isNew = started.outcome === "started"
  return answer(isNew ? `launched ${id}: ${task.title}` : `runs already as ${id}`, {
    task_id: id,
    status: toStatus(task),
    description: task.title,
    ...(agent !== undefined && { agent }),
    ...(task.batch !== null && { batch_id: task.batch }),
    resume_count: task.resumeCount,
    note: toNote(started),
  })
}

function toNote({ outcome, task }: Started): string {
  if (outcome === "running_already")
    return `The same prompt is being worked on already as ${toShortId(task.id)}, so nothing was launched. ${COMES_BY_ITSELF} Word the prompt otherwise to launch another.`
  if (task.status === "waiting") return NEEDS_APPROVAL
  return COMES_BY_ITSELF
}

async function resume(id: string, prompt: string, operations: TaskOperations): Promise<ToolReturn> {
  const task = await operations.resume(withoutMark(id), prompt).catch((error: unknown) => {
    throw isMeanwhileError(error, "expired") ? toExpired(id) : error
  })
  return answer(`resumed ${toShortId(task.id)}`, {
    task_id: toShortId(task.id),
    status: "resumed",
    description: task.title,
    resume_count: task.resumeCount,
    note: `The follow-up was sent to its agent. ${COMES_BY_ITSELF}`,
  })
}

function toExpired(id: string): MeanwhileError {
  const message = `The session of task ${id} no longer exists, so it cannot be resumed. Start a new background_task with all it has to know in its prompt.`
  return new MeanwhileError("expired", message, { id })
}
