import type { Message } from "../../plugin/message.ts"
import { type EstimateTokens, sumTokens } from "./budget.ts"
import type { GcSettings } from "./gc-config.ts"
import { hasCalls, type Piece, toMessages } from "./piece.ts"
import { shortenOpening, shortenResults, type Shortening } from "./shorten.ts"

/** The action of a collection for each piece of the conversation. */
export interface Plan {
  /** The first turn, when it is kept apart from the others. */
  readonly first: readonly Piece[]
  readonly recent: readonly Piece[]
  /** Whole turns that go, and what had to go from inside the others. Oldest first. */
  readonly removedTurns: readonly (readonly Piece[])[]
  readonly removedExchanges: readonly Piece[]
}

export interface PlanRequest {
  readonly pieces: readonly Piece[]
  /** For the pieces alone, without the message that stands for what was removed. */
  readonly targetTokens: number
  readonly estimate: EstimateTokens
  readonly settings: GcSettings
  /** `all`: every turn that may go does; `needed`: only the oldest, until the rest fits. */
  readonly removes: "all" | "needed"
}

export function planCollection({ pieces, targetTokens, estimate, settings, removes }: PlanRequest): Plan {
  const turns = [...Map.groupBy(pieces, ({ turn }) => turn).values()]
  const firstCount = settings.keepFirstTurn ? 1 : 0
  const lastStart = Math.max(firstCount, turns.length - settings.keepRecentTurns)
  let tokens = sumTokens(toMessages(pieces), estimate)
  let start = firstCount
  while (start < lastStart && (removes === "all" || tokens > targetTokens)) {
    tokens -= sumTokens(toMessages(turns[start] ?? []), estimate)
    start += 1
  }
  const first = turns.slice(0, firstCount).flat()
  const fitted = fitPieces([...first, ...turns.slice(start).flat()], targetTokens, estimate)
  const isFirst = ({ turn }: Piece) => firstCount > 0 && turn === pieces[0]?.turn
  return {
    first: fitted.pieces.filter(isFirst),
    recent: fitted.pieces.filter((piece) => !isFirst(piece)),
    removedTurns: turns.slice(firstCount, start),
    removedExchanges: fitted.removed,
  }
}

const BRIEF: Shortening = { mostCharacters: 600, keepsFiles: false }
const BRIEF_OPENING: Shortening = { mostCharacters: 2_000, keepsFiles: false }
/** Half of the budget at three characters a token. */
const CHARACTERS_PER_TARGET_TOKEN = 1.5

/** `isCurrent`: the last user message, or the exchange after which the model goes on. Null removes the piece. */
type Reduce = (piece: Piece, isCurrent: boolean) => Piece | null

/**
 * Makes room inside turns that stay, from the least to the greatest loss, each time oldest first and only as far as
 * needed. The last user message stays as it is; the exchange after which the model goes on loses at most length.
 * Assistant messages are never changed: providers sign parts of them. `removed` are the exchanges that had to go, oldest
 * first, as they were.
 */
function fitPieces(pieces: readonly Piece[], targetTokens: number, estimate: EstimateTokens) {
  const current = new Set([pieces.findLastIndex(({ kind }) => kind === "opening"), pieces.length - 1])
  const kept: (Piece | null)[] = [...pieces]
  const removed = new Map<number, Piece>()
  let tokens = sumTokens(toMessages(pieces), estimate)
  for (const reduce of toReductions(pieces, targetTokens)) {
    for (const [index, piece] of kept.entries()) {
      if (tokens <= targetTokens) break
      if (!piece) continue
      const reduced = reduce(piece, current.has(index))
      if (reduced === null) removed.set(index, pieces[index] ?? piece)
      tokens += sumTokens(reduced?.messages ?? [], estimate) - sumTokens(piece.messages, estimate)
      kept[index] = reduced
    }
  }
  const byAge = [...removed].toSorted(([a], [b]) => a - b).map(([, piece]) => piece)
  return { pieces: kept.filter((piece) => piece !== null), removed: byAge }
}

function toReductions(pieces: readonly Piece[], targetTokens: number): readonly Reduce[] {
  const results = pieces.at(-1)?.messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "result")) ?? []
  const share = Math.floor((targetTokens * CHARACTERS_PER_TARGET_TOKEN) / Math.max(1, results.length))
  const ample: Shortening = { mostCharacters: Math.max(BRIEF.mostCharacters, share), keepsFiles: true }
  return [
    (piece, isCurrent) => (isCurrent ? piece : withMessages(piece, (message) => shortenResults(message, BRIEF))),
    (piece, isCurrent) => (isCurrent ? withMessages(piece, (message) => shortenResults(message, ample)) : piece),
    (piece, isCurrent) => (!isCurrent && piece.kind === "exchange" && hasCalls(piece) ? null : piece),
    (piece, isCurrent) =>
      isCurrent || piece.kind === "exchange"
        ? piece
        : withMessages(piece, (message) => shortenOpening(message, BRIEF_OPENING)),
    (piece, isCurrent) => (isCurrent ? withMessages(piece, (message) => shortenResults(message, BRIEF)) : piece),
    (piece, isCurrent) => (!isCurrent && piece.kind === "exchange" ? null : piece),
  ]
}

function withMessages(piece: Piece, change: (message: Message) => Message): Piece {
  const messages = piece.messages.map(change)
  return messages.every((message, index) => message === piece.messages[index]) ? piece : { ...piece, messages }
}
