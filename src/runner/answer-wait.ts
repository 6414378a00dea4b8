import { MeanwhileError } from "../base/error.ts"
import type { JsonValue } from "../base/json.ts"
import type { WaitId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"
import { REPEAT_QUESTION } from "./on-crash.ts"
import type { RunnerScope } from "./scope.ts"

/** Answers what a run waits for. "No" to repeating an interrupted run ends it; any other answer puts it in the queue. */
export async function answerWait(
  scope: RunnerScope,
  waitId: WaitId,
  answer: JsonValue,
  answeredBy: string,
): Promise<TaskRecord> {
  const wait = await scope.store.wait(waitId)
  if (!wait) throw new MeanwhileError("not_found", `Nothing waits under ${waitId}.`, { waitId })
  const { question, taskId, run } = wait
  const isRepeat =
    typeof question === "object" && question !== null && "kind" in question && question["kind"] === REPEAT_QUESTION
  if (isRepeat && answer !== true && wait.state === "open") {
    const event = {
      type: "task.cancelled",
      by: "person",
      reason: "not run again after an interruption",
      survivors: [],
      late: null,
    } as const
    const [task] = await scope.store.commit([{ op: "task.apply", run: { taskId, run }, event }])
    return task
  }
  const [task] = await scope.store.commit([{ op: "wait.answer", waitId, answer, answeredBy }])
  return task
}
