import type { Desk } from "../../desk/desk.ts"
import type { LeftWork, Prompt } from "../../desk/prompt-work.ts"
import { shortId, type Task, toLine } from "../format/format.ts"
import { formatAsked } from "../question/inbox.ts"
import type { Screen } from "../screen/screen.ts"
import type { Session } from "../start/start-session.ts"
import { describeHandoff, describeRunner } from "../format/format-worker.ts"
import type { ToldEnds } from "./told-ends.ts"

export interface LeavingScope {
  readonly desk: Desk
  readonly prompt: Prompt
  /** The command that starts the program for this store. */
  readonly words: string
  readonly screen: Screen
}

export interface SettlingScope extends LeavingScope {
  readonly session: Pick<Session, "reported">
  readonly ends: Pick<ToldEnds, "tell">
}

/** Waits until every task has ended or needs a person, and everything was reported. Costs no tokens but those of reports. */
export async function settleTasks(scope: SettlingScope, signal: AbortSignal): Promise<LeftWork> {
  const { desk, prompt, screen, words, session, ends } = scope
  const reported = (until: AbortSignal): Promise<void> => session.reported(until)
  for await (const event of desk.promptWork.settle(prompt, { signal, reported })) {
    switch (event.type) {
      case "task.ended":
        await ends.tell(event.task)
        break
      case "question.opened":
        screen.print(await formatAsked(desk, event.item, `${words} tasks answer`, screen))
        break
      case "task.unserved": {
        const { task, missing } = event
        screen.print(`[${shortId(task.id)}] is queued and waited for: ${toLine(missing.text)} (${toLine(task.title)})`)
        break
      }
      case "work.settled":
        return event.left
    }
  }
  return "running"
}

/**
 * Says what the end of the program does to the tasks that nobody waits for. Tasks that run here and are kept are named when
 * they have been left.
 */
export async function leaveTasks(scope: LeavingScope, { keeps }: { readonly keeps: boolean }): Promise<void> {
  const { desk, prompt } = scope
  // The next start tells missed ends only of a folder in which somebody has asked for ends before.
  await desk.ended.list(prompt.session)
  for (const task of await desk.promptWork.tasks(prompt)) {
    if ("endedAt" in task || (keeps && (await isLeftHere(scope, task)))) continue
    scope.screen.print(`[${shortId(task.id)}] ${await describeFate(scope, task)}: ${toLine(task.title)}`)
  }
}

async function isLeftHere({ desk }: LeavingScope, { id, status, lifetime }: Task): Promise<boolean> {
  if (status === "queued") return true
  if (status === "waiting" || lifetime === "forever") return false
  return (await desk.tasks.find(id)).worker?.where === "process"
}

async function describeFate({ desk, words }: LeavingScope, task: Task): Promise<string> {
  const { id, kind, lifetime, status } = task
  if (lifetime === "forever") return `goes on without Meanwhile (${words} tasks show ${shortId(id)})`
  if (status === "waiting") return `waits for an answer (${words} tasks inbox)`
  const { worker } = await desk.tasks.find(id)
  if (worker && worker.where !== "process") return `goes on ${describeRunner(worker)}`
  if (status === "queued" || kind !== "tool") return `goes on ${await describeHandoff(desk, task)}`
  return "is stopped at exit"
}
