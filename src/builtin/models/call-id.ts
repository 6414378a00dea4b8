import { createHash } from "node:crypto"
import { callsOf, type Message } from "../../plugin/message.ts"
import type { Dialect } from "./dialect.ts"

/** The id as the provider takes it: itself where that is legal, else always the same substitute. */
export function toLegalCallId(id: string, { callId: { pattern, length } }: Dialect): string {
  return pattern.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, length)
}

/** Gives every call of an answer an id of its own: some servers count from 0 in each answer, or name none. */
export function createCallIds(history: readonly Message[]): (id: string) => string {
  let taken: Set<string> | undefined
  return (id) => {
    taken ??= new Set(history.flatMap((message) => callsOf(message).map((call) => call.id)))
    let free = id || "call"
    for (let count = 2; taken.has(free); count++) free = `${id || "call"}_${count}`
    taken.add(free)
    return free
  }
}
