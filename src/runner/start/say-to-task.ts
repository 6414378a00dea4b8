import { MeanwhileError } from "../../base/error.ts"
import type { SaidTo } from "../../plugin/task-service.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { AdmitScope, DetailsScope } from "../admit/scope.ts"
import type { HasPorts, HasQueue } from "../run/scope.ts"
import { requireText, resumeTask } from "./resume-task.ts"

const LIVE: ReadonlySet<string> = new Set(["queued", "running", "waiting"])

/** To a live agent, at its next tool boundary; a completed one is resumed. */
export async function sayToTask(
  scope: AdmitScope & DetailsScope & HasQueue & HasPorts,
  task: TaskRecord,
  text: string,
  hops = 0,
): Promise<SaidTo> {
  requireText("message", text)
  if (task.kind !== "agent") {
    const message = `Task ${task.id} is a call of ${task.tool}: only agents can be told something.`
    throw new MeanwhileError("wrong_state", message, { kind: task.kind })
  }
  if (task.status === "completed") return { task: await resumeTask(scope, task, text, hops), how: "resumed" }
  if (!LIVE.has(task.status)) {
    const message = `Task ${task.id} is ${task.status}: only agents that run or have completed can be told something. Retry it, or start a new one.`
    throw new MeanwhileError("wrong_state", message, { status: task.status })
  }
  const session = (await scope.ports.agents?.sessionOf(task)) ?? null
  if (!scope.ports.agents || session === null) {
    const message = `Task ${task.id} is ${task.status} and has no conversation yet. Say it again once it has begun.`
    throw new MeanwhileError("wrong_state", message, { status: task.status })
  }
  await scope.ports.agents.say(task, session, text)
  return { task, how: "steered" }
}
