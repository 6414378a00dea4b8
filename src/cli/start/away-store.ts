import type { ScreenRuntime } from "../../program/open-program.ts"
import { isMeanwhileError } from "../../base/error.ts"
import { plain } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"

/** The result, or `otherwise` if the store is away or gone: a program that leaves does not wait for the store. */
export async function unlessAway<Result>(work: Promise<Result>, otherwise: Result): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (isMeanwhileError(error, "store_unavailable") || isMeanwhileError(error, "store_gone")) return otherwise
    throw error
  }
}

/** False if the store is away or gone: the next program finds unwritten work, as after a crash. */
export function closeUnlessAway(
  meanwhile: ScreenRuntime,
  shutdown?: Parameters<ScreenRuntime["close"]>[0],
): Promise<boolean> {
  const closed = meanwhile.close(shutdown).then(() => true)
  return unlessAway(closed, false)
}

/** True if the error comes from a store that the program no longer waits for, which it says once at the end. */
export function isForsaken(error: unknown, gone: AbortSignal): boolean {
  return gone.aborted && isMeanwhileError(error, "store_unavailable")
}

/** Prints messages that may be lost, so that they can be copied. */
export function tellLost(lost: readonly string[], screen: Screen): void {
  if (lost.length === 0) return
  const text = "The store was away, and may not have kept what you said:"
  screen.print([text, ...lost.map((message) => plain(message).replaceAll(/^/gm, "  "))].join("\n"))
}
