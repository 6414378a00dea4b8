import { toErrorMessage } from "../../base/error.ts"
import type { TurnRun } from "../../runner/turn/turn-run.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { stopTurn } from "../conversation/stop-turn.ts"
import { fallBack, publishReport } from "./publish-report.ts"
import { readReportMark, type ReportMark } from "../turn/report-mark.ts"
import type { Using } from "../conversation/scope.ts"
import type { ReportScope } from "../conversation/report-config.ts"

/** Follows a report that goes on here because its worker is gone: publishes it at its end, or notifies the person. */
export async function followLeftReport(
  scope: Using<"clock" | "log" | "runner" | "store"> & ReportScope,
  conversation: Conversation,
  run: TurnRun,
  text: Promise<string>,
): Promise<void> {
  const mark = readReportMark(await run.metadata())
  if (!mark) return
  await announce(scope, conversation, mark)
  const { timeoutMs } = scope.config.reports
  const late = `the report took longer than ${timeoutMs} ms`
  const stop = (): void => void stopTurn(scope, conversation, late, "limit")
  const release = scope.clock.schedule(timeoutMs, stop, { isBackground: true })
  void run.ended
    .then((turn) => turn && publish(scope, conversation, mark, turn, text))
    .catch((error: unknown) => scope.log.warn("a report was not published", { error: toErrorMessage(error) }))
    .finally(release)
}

async function announce(scope: Using<"store">, conversation: Conversation, mark: ReportMark): Promise<void> {
  const tasks = (await readTasks(scope, mark)).map(({ task: { id, title } }) => ({ id, title }))
  const found = mark.groupId && (await scope.store.group(mark.groupId))
  const group = found ? { id: found.id, name: found.name } : null
  conversation.emitter.emit({ type: "report.started", tasks, group })
}

async function publish(
  scope: Using<"store"> & ReportScope,
  conversation: Conversation,
  mark: ReportMark,
  turn: TaskRecord,
  text: Promise<string>,
): Promise<void> {
  if (turn.status === "completed") publishReport(conversation, mark, await text)
  else fallBack(scope, conversation, await readTasks(scope, mark))
}

async function readTasks({ store }: Using<"store">, { taskIds }: ReportMark) {
  const tasks = await Promise.all(taskIds.map((id) => store.task(id)))
  return tasks.flatMap((task) => (task ? [{ task }] : []))
}
