import { EXIT_CODES } from "./exit-code.ts"

/**
 * Tells a person that the program waits for the store. From the first line on, a signal says that, too, and ends the
 * program.
 */
export interface WaitExit extends Disposable {
  readonly tell: (line: string) => void
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const

/** Opens a store; while the work waits for the store, a signal ends the program. */
export async function withWaitExit<Result>(
  print: (line: string) => void,
  work: (tell: WaitExit["tell"]) => Promise<Result>,
): Promise<Result> {
  using waiting = createWaitExit(print)
  return await work(waiting.tell)
}

/** For programs that have nothing to clean up before their store is there. Dispose of it once it is. */
export function createWaitExit(print: (line: string) => void): WaitExit {
  let isOver = false
  const end = (): void => {
    print("meanwhile: stopped while it waited for the store")
    process.exit(EXIT_CODES.stopped)
  }
  const disarm = (): void => {
    for (const signal of SIGNALS) process.off(signal, end)
  }
  return {
    tell(line) {
      disarm()
      if (!isOver) for (const signal of SIGNALS) process.on(signal, end)
      print(line)
    },
    [Symbol.dispose]() {
      isOver = true
      disarm()
    },
  }
}
