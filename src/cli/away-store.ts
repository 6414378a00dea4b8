import type { Runtime } from "../app.ts"
import { isMeanwhileError } from "../base/error.ts"
import { plain } from "./format.ts"
import type { Screen } from "./screen/screen.ts"

/** Of a store that is away nothing can be told: whoever leaves does not wait for it. */
export async function unlessAway<Result>(work: Promise<Result>, otherwise: Result): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (isMeanwhileError(error, "store_unavailable")) return otherwise
    throw error
  }
}

/** False when the store is away: what was not written is found by whoever comes next, as after a crash. */
export function closeUnlessAway(meanwhile: Runtime, shutdown?: Parameters<Runtime["close"]>[0]): Promise<boolean> {
  const closed = meanwhile.close(shutdown).then(() => true)
  return unlessAway(closed, false)
}

/** Whether something failed for a store that nobody waits for any more: that it is away is told once, at the end. */
export function isForsaken(error: unknown, gone: AbortSignal): boolean {
  return gone.aborted && isMeanwhileError(error, "store_unavailable")
}

/** Here they can be copied. */
export function tellLost(lost: readonly string[], screen: Screen): void {
  if (lost.length === 0) return
  const text = "The store was away, and may not have kept what you said:"
  screen.print([text, ...lost.map((message) => plain(message).replaceAll(/^/gm, "  "))].join("\n"))
}
