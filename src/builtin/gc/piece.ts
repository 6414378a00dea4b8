import { callsOf, type Message } from "../../plugin/message.ts"
import { leadOf, type Lead } from "./lead.ts"

/**
 * A unit that is kept or removed as one: a user message that opens a turn, or an exchange, which is an assistant
 * message with all the results of its calls. A call and its result are therefore never parted.
 */
export interface Piece {
  readonly kind: "opening" | "exchange"
  /** Pieces of one turn share the number; the first turn is 0. */
  readonly turn: number
  readonly messages: readonly Message[]
}

export interface Pieces {
  /** A placeholder for messages that earlier collections removed. */
  readonly leads: readonly Lead[]
  readonly pieces: readonly Piece[]
}

export function toPieces(messages: readonly Message[]): Pieces {
  const leads: Lead[] = []
  const pieces: Piece[] = []
  for (const message of messages) {
    const lead = leadOf(message)
    const last = pieces.at(-1)
    const turn = last?.turn ?? 0
    if (lead) {
      leads.push(lead)
    } else if (message.role === "user") {
      pieces.push({ kind: "opening", turn: last ? turn + 1 : 0, messages: [message] })
    } else if (message.role === "tool" && last?.kind === "exchange") {
      pieces[pieces.length - 1] = { ...last, messages: [...last.messages, message] }
    } else {
      pieces.push({ kind: "exchange", turn, messages: [message] })
    }
  }
  return { leads, pieces }
}

export function toMessages(pieces: readonly Piece[]): readonly Message[] {
  return pieces.flatMap((piece) => piece.messages)
}

export function hasCalls({ messages }: Piece): boolean {
  return messages.some((message) => callsOf(message).length > 0)
}
