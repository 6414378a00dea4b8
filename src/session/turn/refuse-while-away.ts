import { systemClock } from "../../base/clock.ts"
import type { Using } from "../conversation/scope.ts"

const LOOK_EVERY_MS = 100

/**
 * Rejects as soon as the store is known to be out of reach, until `work` says that it is about to write: reads would wait
 * until the store is back. From then on the commit is refused by itself. Work that was refused stops there, so nothing of it
 * is written later. Looks in real time, whatever clock the runtime was given: nobody advances a manual clock meanwhile.
 */
export async function refuseWhileAway<Result>(
  { store }: Using<"store">,
  work: (onWriting: () => void) => Promise<Result>,
): Promise<Result> {
  const refused = Promise.withResolvers<never>()
  let refusal = store.unreachable()
  if (refusal) throw refusal
  let cancel = schedule()

  function schedule(): () => void {
    return systemClock.schedule(LOOK_EVERY_MS, () => {
      refusal = store.unreachable()
      if (refusal) refused.reject(refusal)
      else cancel = schedule()
    })
  }

  const onWriting = (): void => {
    if (refusal) throw refusal
    cancel()
  }
  try {
    return await Promise.race([work(onWriting), refused.promise])
  } finally {
    cancel()
  }
}
