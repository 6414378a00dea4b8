import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { AgentRequest } from "../../plugin/agent-request.ts"
import type { SessionId } from "../../task/id.ts"
import { isTerminal, STOPPABLE_STATUSES } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { SaidTo } from "../../plugin/task-service.ts"
import { parseInput } from "../admit/details.ts"
import type { HasPorts, HasTools } from "../run/scope.ts"
import { type BeginScope, beginAnew, requireInput } from "./begin-anew.ts"

/** A follow-up to a completed agent: another run in the same conversation. */
export async function resumeTask(scope: BeginScope, task: TaskRecord, prompt: string, hops = 0): Promise<TaskRecord> {
  const { tool, resume } = requireResumableTool(scope, task)
  requireText("prompt", prompt)
  requireResumable(task)
  const session = await requireSession(scope, task)
  // The input is stripped when its result was used long enough ago. The conversation stays, and knows all of it.
  const earlier: unknown =
    task.strippedAt === null ? requireInput(scope, task) : ({ task: prompt } satisfies AgentRequest)
  const input = resume(parseInput(tool, earlier), prompt, session)
  try {
    return await beginAnew(scope, task, { reason: "resume", input, hops })
  } catch (error) {
    // Another caller was faster: the error names the status that the store has now.
    const current = isMeanwhileError(error, "wrong_state") ? await scope.store.task(task.id) : undefined
    if (current) requireResumable(current)
    throw error
  }
}

function requireText(field: string, text: unknown): void {
  if (typeof text === "string" && text.trim() !== "") return
  throw new MeanwhileError("invalid_input", `\`${field}\` must not be empty.`, { field })
}

function requireResumableTool(scope: HasTools, task: TaskRecord) {
  const { tool } = scope.tools.find(task.tool, task.plugin)
  if (task.kind === "agent" && tool.resume) return { tool, resume: tool.resume }
  const message = `Task ${task.id} is a call of ${task.tool}, which has no conversation to go on with: only agents can be resumed. Start it again instead.`
  throw new MeanwhileError("wrong_state", message, { tool: task.tool })
}

function requireResumable({ id, status, resumeCount }: TaskRecord): void {
  if (status === "completed") return
  const message =
    resumeCount > 0 && !isTerminal(status)
      ? `Task ${id} is currently being resumed. Wait until it has completed.`
      : `Task ${id} is ${status}: only completed tasks can be resumed.`
  throw new MeanwhileError("wrong_state", message, { status })
}

async function requireSession({ ports }: HasPorts, task: TaskRecord): Promise<SessionId> {
  const session = (await ports.conversations.agents?.sessionOf(task)) ?? null
  if (session !== null) return session
  const message = `The conversation of task ${task.id} no longer exists, so it cannot be resumed. Start a new task, and tell it what it has to know.`
  throw new MeanwhileError("expired", message, { taskId: task.id })
}

/** Tells a live agent something at its next tool boundary, and resumes a completed one. */
export async function sayToTask(scope: BeginScope, task: TaskRecord, text: string, hops = 0): Promise<SaidTo> {
  requireText("message", text)
  if (task.kind !== "agent") {
    const message = `Task ${task.id} is a call of ${task.tool}: only agents can be told something.`
    throw new MeanwhileError("wrong_state", message, { kind: task.kind })
  }
  if (task.status === "completed") return { task: await resumeTask(scope, task, text, hops), how: "resumed" }
  if (!STOPPABLE_STATUSES.some((status) => status === task.status)) {
    const message = `Task ${task.id} is ${task.status}: only agents that run or have completed can be told something. Retry it, or start a new one.`
    throw new MeanwhileError("wrong_state", message, { status: task.status })
  }
  const { agents } = scope.ports.conversations
  const session = (await agents?.sessionOf(task)) ?? null
  if (!agents || session === null) {
    const message = `Task ${task.id} is ${task.status} and has no conversation yet. Say it again once it has begun.`
    throw new MeanwhileError("wrong_state", message, { status: task.status })
  }
  await agents.say(task, session, text, scope.store)
  return { task, how: "steered" }
}
