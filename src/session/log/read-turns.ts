import type { Message } from "../../plugin/message.ts"
import { addTokens, NO_TOKENS, type TokenUsage } from "../../plugin/token-usage.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import { parseEntry } from "./log-entry.ts"

const PAGE_SIZE = 500

/**
 * Messages and usage of some turns of a session, read from its log, so that it does not matter which process took them.
 */
export interface TurnsRead {
  /** All but those that began a turn, in order. */
  readonly messages: readonly Message[]
  readonly usage: TokenUsage
  /** The cost of the calls whose price is known. */
  readonly costMicros: number
}

export async function readTurns(store: TaskStore, session: SessionId, turns: ReadonlySet<TaskId>): Promise<TurnsRead> {
  const messages: Message[] = []
  let usage = NO_TOKENS
  let costMicros = 0
  let position = 0
  for (;;) {
    const records = await store.messages(session, position, PAGE_SIZE)
    for (const { body } of records) {
      const entry = parseEntry(body)
      const paid = entry?.kind === "paid" ? entry.entry : entry?.kind === "message" ? entry.call : undefined
      const turn = entry?.kind === "paid" ? entry.entry.turn : entry?.kind === "message" ? entry.turn : null
      if (turn === null || !turns.has(turn)) continue
      if (entry?.kind === "message") messages.push(entry.message)
      if (!paid) continue
      usage = addTokens(usage, paid.usage)
      costMicros += paid.costMicros ?? 0
    }
    const last = records.at(-1)
    if (!last || records.length < PAGE_SIZE) return { messages, usage, costMicros }
    position = last.position
  }
}
