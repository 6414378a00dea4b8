import { type EstimateTokens, sumTokens } from "./budget.ts"
import { fitPieces } from "./fit.ts"
import type { GcSettings } from "./gc-config.ts"
import { type Piece, toMessages } from "./piece.ts"

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
  const turns = toTurns(pieces)
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

function toTurns(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  return [...Map.groupBy(pieces, ({ turn }) => turn).values()]
}
