import type { CancelTimer } from "../../base/clock.ts"
import { toErrorMessage } from "../../base/error.ts"
import type { OutputChunk } from "../../plugin/output.ts"
import type { ActiveRun, OutputFollower } from "../run/active-run.ts"
import type { RunnerScope } from "../scope.ts"

const LOOK_EVERY_MS = 40
/** At what runs elsewhere, where looking costs more. */
const LOOK_FAR_EVERY_MS = 250

/** The output of a run of this process, or of one that may run elsewhere. */
export type ReadOutput = (offset: number, state: { readonly isComplete: boolean }) => Promise<OutputChunk>

export function followOutput(
  scope: RunnerScope,
  read: ReadOutput,
  onOutput: (text: string) => void,
  isFar: () => boolean = () => false,
): OutputFollower {
  let offset = 0
  let looking: Promise<void> = Promise.resolve()
  let cancelTimer: CancelTimer = schedule()

  async function look(isComplete: boolean): Promise<void> {
    for (;;) {
      const chunk = await read(offset, { isComplete })
      const isStuck = chunk.nextOffset === offset
      offset = chunk.nextOffset
      if (chunk.text !== "") onOutput(chunk.text)
      if (isStuck || offset >= chunk.totalBytes) return
    }
  }

  function schedule(): CancelTimer {
    return scope.clock.schedule(isFar() ? LOOK_FAR_EVERY_MS : LOOK_EVERY_MS, () => {
      looking = look(false).then(() => {
        cancelTimer = schedule()
      })
      looking.catch((error: unknown) => scope.log.warn("output could not be read", { error: toErrorMessage(error) }))
    })
  }

  return {
    async finish({ isComplete }) {
      await looking.catch(() => {})
      cancelTimer()
      await look(isComplete)
    },
  }
}

/** From the first byte on, when somebody listens. Most calls print nothing: for them nobody looks. */
export function followRun(scope: RunnerScope, active: ActiveRun): void {
  if (!active.onOutput || !active.spool) return
  const read: ReadOutput = async (offset, state) => active.spool?.read({ offset }, state) ?? toNothing(offset, state)
  active.outputFollower ??= followOutput(scope, read, active.onOutput)
}

function toNothing(offset: number, { isComplete }: { readonly isComplete: boolean }): OutputChunk {
  return { text: "", offset, nextOffset: offset, totalBytes: offset, droppedBefore: null, isComplete }
}

/** Passes on what is left before the answer. What the listener throws changes nothing about the call. */
export async function finishFollowing(
  scope: RunnerScope,
  active: ActiveRun,
  state: { readonly isComplete: boolean },
): Promise<void> {
  const follower = active.outputFollower
  active.outputFollower = null
  active.onOutput = null
  await follower?.finish(state).catch((error: unknown) => {
    scope.log.warn("output could not be passed on", { task: active.taskId, error: toErrorMessage(error) })
  })
}
