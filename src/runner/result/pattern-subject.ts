import { toErrorMessage } from "../../base/error.ts"
import type { PatternAnswer } from "../../plugin/output.ts"
import type { TaskRecord } from "../../task/record.ts"
import { waitForTaskOutput } from "./task-output.ts"
import type { HasSpool, WaitScope } from "../run/scope.ts"
import { createTaskSubject } from "./task-subject.ts"
import type { WaitSubject } from "./wait-subject.ts"

/** Text that a task prints. A task that ends without printing it has ended: there is nothing more to wait for. */
export function createPatternSubject(
  scope: WaitScope & HasSpool,
  task: TaskRecord,
  pattern: string,
  timeoutMs: number,
): WaitSubject {
  const ofTask = createTaskSubject(scope, [task], 1)
  let found: PatternAnswer | undefined
  let problem: Error | undefined
  let searched: Promise<void> | undefined

  return {
    hear: (wake) => ofTask.hear(wake),
    begin(wake) {
      const stop = new AbortController()
      searched = waitForTaskOutput(scope, task, { pattern, timeoutMs, signal: stop.signal })
        .then(
          (answer) => {
            found = answer
          },
          (error: unknown) => {
            problem = error instanceof Error ? error : new Error(toErrorMessage(error))
          },
        )
        .finally(wake)
      return () => stop.abort()
    },
    async look() {
      // A wait without time still sees what is printed already.
      if (timeoutMs === 0) await searched
      if (problem) throw problem
      const standing = await ofTask.look()
      if (found?.outcome === "matched" || found?.outcome === "ended") return "met"
      return standing === "met" && !found ? null : standing
    },
    read: async () => ({ ...(await ofTask.read()), match: found ?? null }),
  }
}
