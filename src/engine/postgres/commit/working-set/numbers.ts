import type { UndoLog } from "./memory.ts"
import { Missing, type NumberKind } from "./wants.ts"

/** Fresh numbers of one sequence. Those that a refused writer took are given to the next. */
export interface Numbers {
  take(): number
  learn(numbers: readonly number[]): void
}

export function createNumbers(kind: NumberKind, undo: UndoLog): Numbers {
  const known: number[] = []
  let taken = 0
  return {
    take() {
      const number = known[taken]
      if (number === undefined) throw new Missing((wants) => void (wants.numbers[kind] = 1))
      taken += 1
      undo.note(() => void (taken -= 1))
      return number
    },
    learn: (numbers) => void known.push(...numbers),
  }
}
