import { ERROR_CODES, type ErrorCode, MeanwhileError } from "../base/error.ts"
import { textOf } from "../plugin/message.ts"
import { addTokens, NO_TOKENS, type TokenUsage } from "../plugin/token-usage.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import { isTerminal } from "../task/lifecycle.ts"
import type { TaskRecord } from "../task/record.ts"
import { parseEntry } from "./log/log-entry.ts"
import type { AgentScope } from "./scope.ts"

const PAGE_SIZE = 500
const LOOK_AGAIN_MS = 60_000

/** The newest turn of a session of the store; undefined when it has had none. */
export async function findLastTurn(
  { store }: AgentScope,
  session: SessionId,
  workspace: WorkspaceId,
): Promise<TaskId | undefined> {
  let last: TaskId | undefined
  let cursor: string | undefined
  do {
    const filter = { workspace, session, kinds: ["turn"] } as const
    const page = await store.tasks(filter, { limit: PAGE_SIZE, ...(cursor && { cursor }) })
    last = page.items.at(-1)?.id ?? last
    cursor = page.cursor
  } while (cursor)
  return last
}

/** Waits for a task as long as it takes, or until the signal aborts. */
export async function waitForTask(
  { runner }: AgentScope,
  id: TaskId,
  workspace: WorkspaceId,
  signal: AbortSignal,
): Promise<TaskRecord> {
  for (;;) {
    const { task } = await runner.result(id, { waitMs: LOOK_AGAIN_MS, signal }, workspace)
    if (isTerminal(task.status)) return task
    signal.throwIfAborted()
  }
}

/** What a turn that ended elsewhere, or before a crash, came to. Throws what it failed with. */
export function requireCompleted(turn: TaskRecord, name: string): void {
  switch (turn.status) {
    case "completed":
      return
    case "failed":
    case "interrupted":
      throw new MeanwhileError(toErrorCode(turn.failure.code), turn.failure.message)
    default: {
      const why = "stop" in turn ? `: ${turn.stop.reason}` : ""
      throw new MeanwhileError("closed", `The subagent ${name} was stopped${why}.`)
    }
  }
}

/** The last text and all usage, as the log has them. */
export async function readAnswer(
  { store }: AgentScope,
  session: SessionId,
): Promise<{ readonly text: string; readonly usage: TokenUsage; readonly costMicros: number }> {
  let text = ""
  let costMicros = 0
  let usage = NO_TOKENS
  let position = 0
  for (;;) {
    const records = await store.messages(session, position, PAGE_SIZE)
    for (const { body } of records) {
      const entry = parseEntry(body)
      if (entry?.kind === "paid") {
        usage = addTokens(usage, entry.entry.usage)
        costMicros += entry.entry.costMicros ?? 0
      }
      if (entry?.kind !== "message" || !entry.call) continue
      usage = addTokens(usage, entry.call.usage)
      costMicros += entry.call.costMicros ?? 0
      text = textOf(entry.message)
    }
    const last = records.at(-1)
    if (!last || records.length < PAGE_SIZE) return { text, usage, costMicros }
    position = last.position
  }
}

function toErrorCode(code: string): ErrorCode {
  return ERROR_CODES.find((known) => known === code) ?? "wrong_state"
}
