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
        screen.print(await formatAsked(desk, event.item, `${words} tasks answer`))
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

/** Says what the end of the program does to the tasks that nobody waits for. */
export async function leaveTasks(scope: LeavingScope): Promise<void> {
  for (const task of await scope.desk.promptWork.tasks(scope.prompt)) {
    if ("endedAt" in task) continue
    scope.screen.print(`[${shortId(task.id)}] ${await describeFate(scope, task)}: ${toLine(task.title)}`)
  }
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
