import type { Desk } from "../../desk/desk.ts"
import type { EndedTask } from "../../desk/ended.ts"
import type { Prompt } from "../../desk/prompt-work.ts"
import { formatAnnouncement, type Task, type TaskId } from "../format/format.ts"
import { formatResultHead } from "../format/format-result.ts"
import type { Screen } from "../screen/screen.ts"

export interface ToldEndsScope {
  readonly desk: {
    readonly tasks: Pick<Desk["tasks"], "firstStart" | "isReported">
    readonly promptWork: Pick<Desk["promptWork"], "tasks">
    readonly ended: Pick<Desk["ended"], "shown">
  }
  readonly prompt: Prompt
  readonly screen: Pick<Screen, "print">
  /** False: no agent tells what its tasks came to. */
  readonly areReportsOn: boolean
}

/** Tells the end of each task of a prompt once: when it is heard of, or before a report about it that is quicker. */
export interface ToldEnds {
  tell(task: Task): Promise<void>
  /** Those of these tasks that have ended. */
  tellBefore(reported: readonly TaskId[]): Promise<void>
  /** Records which ends were told, so that the next chat does not tell them again. */
  acknowledge(): Promise<void>
}

export function createToldEnds(scope: ToldEndsScope): ToldEnds {
  const told = new Map<TaskId, Promise<void>>()
  const ends: EndedTask[] = []

  function tell(task: Task): Promise<void> {
    const known = told.get(task.id)
    if (known) return known
    const telling = tellEnd(scope, task).then(() => void ("endedAt" in task && ends.push(task)))
    told.set(task.id, telling)
    // If the store was away, the end is told later.
    telling.catch(() => told.delete(task.id))
    return telling
  }

  return {
    tell,
    async tellBefore(reported) {
      const tasks = await scope.desk.promptWork.tasks(scope.prompt)
      await Promise.all(tasks.filter((task) => reported.includes(task.id) && "endedAt" in task).map(tell))
    },
    async acknowledge() {
      if (ends.length > 0) await scope.desk.ended.shown(ends)
    },
  }
}

/** With what came of it, unless the agent itself tells that. */
async function tellEnd({ desk, screen, areReportsOn }: ToldEndsScope, task: Task): Promise<void> {
  const isReported = areReportsOn && (await desk.tasks.isReported(task))
  const head = isReported ? "" : formatResultHead(task)
  screen.print(`${formatAnnouncement(task, await desk.tasks.firstStart(task))}${head === "" ? "" : `\n${head}`}`)
}
