import { type JsonObject, toJson } from "../../base/json.ts"
import type { BackgroundTaskResult } from "../../plugin/background-result.ts"
import type { SessionState } from "../../plugin/sessions-port.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { toSessionInfo } from "../conversation/context.ts"
import { readTrajectory } from "../results/trajectory.ts"
import { redactMessage } from "../log/log-entry.ts"
import type { SessionData } from "../log/session-data.ts"
import { readOpenDocuments } from "./saved-documents.ts"
import type { Using } from "../conversation/scope.ts"

type Results = Pick<SessionState, "backgroundResults">

/** For plugins, which may write it down: without secrets. */
export async function readSessionState(
  scope: Using<"redactor" | "store">,
  conversation: Conversation,
): Promise<SessionState> {
  const { log, hasTasks } = conversation
  const { history, data } = log
  const messages = history.map((message) => redactMessage(scope.redactor, message))
  const results = hasTasks || data.backgroundResults ? toResults(await readTrajectory(scope, log)) : {}
  const documents = await readOpenDocuments(scope, conversation)
  return { ...toSessionInfo(conversation), model: data.model, messages, data: data.plugins, ...results, ...documents }
}

/** Absent when there are none. */
export function toResults(unused: ReadonlyMap<string, BackgroundTaskResult>): Results {
  return unused.size === 0 ? {} : { backgroundResults: Object.fromEntries(unused) }
}

/** Unused results of a saved conversation, except those of tasks that this store knows: their notices have them. */
export async function readRestored(
  { store, redactor }: Using<"redactor" | "store">,
  { backgroundResults = {} }: SessionState,
): Promise<Pick<SessionData, "backgroundResults">> {
  const results = Object.values(backgroundResults)
  const known = await Promise.all(results.map(({ taskId }) => store.task(taskId)))
  const unknown = results.filter((result, index) => known[index] === undefined && !result.consumed)
  if (unknown.length === 0) return {}
  const kept = Object.fromEntries(unknown.map((result) => [result.taskId, result]))
  return { backgroundResults: redactor.redactJson(toJson(kept)).value as JsonObject }
}
