import type { CancelTimer } from "../../base/clock.ts"
import { toErrorMessage } from "../../base/error.ts"
import type { OutputChunk } from "../../plugin/output.ts"
import type { ActiveRun, OutputFollower } from "../run/active-run.ts"
import type { HasClock, HasLog } from "../run/scope.ts"

const LOOK_EVERY_MS = 40
/** At what runs elsewhere, where looking costs more. */
const LOOK_FAR_EVERY_MS = 250

/** The output of a run of this process, or of one that may run elsewhere. */
export type ReadOutput = (offset: number, state: { readonly isComplete: boolean }) => Promise<OutputChunk>

export interface StoppableFollower extends OutputFollower {
  /** Passes on nothing more. */
  stop(): void
}

export function followOutput(
  scope: HasClock & HasLog,
  read: ReadOutput,
  onOutput: (text: string) => void,
  isFar: () => boolean = () => false,
): StoppableFollower {
  let offset = 0
  let looking: Promise<void> = Promise.resolve()
  let isStopped = false
  let hasFailed = false
  let cancelTimer: CancelTimer = schedule()

  async function look(isComplete: boolean): Promise<void> {
    for (;;) {
      const chunk = await read(offset, { isComplete })
      if (isStopped) return
      const isStuck = chunk.nextOffset === offset
      offset = chunk.nextOffset
      if (chunk.text !== "") onOutput(chunk.text)
      if (isStuck || offset >= chunk.totalBytes) return
    }
  }

  function schedule(): CancelTimer {
    return scope.clock.schedule(isFar() ? LOOK_FAR_EVERY_MS : LOOK_EVERY_MS, () => {
      looking = look(false)
        .catch(warnOnce)
        .then(() => {
          if (!isStopped) cancelTimer = schedule()
        })
    })
  }

  /** A store that is away comes back. */
  function warnOnce(error: unknown): void {
    if (!hasFailed) scope.log.warn("output could not be read; trying again", { error: toErrorMessage(error) })
    hasFailed = true
  }

  return {
    async finish({ isComplete }) {
      await looking
      cancelTimer()
      await look(isComplete)
    },
    stop() {
      isStopped = true
      cancelTimer()
    },
  }
}

/** From the first byte on, when somebody listens. Most calls print nothing: for them nobody looks. */
export function followRun(scope: HasClock & HasLog, active: ActiveRun): void {
  if (!active.onOutput || !active.spool) return
  const read: ReadOutput = async (offset, state) => active.spool?.read({ offset }, state) ?? toNothing(offset, state)
  active.outputFollower ??= followOutput(scope, read, active.onOutput)
}

function toNothing(offset: number, { isComplete }: { readonly isComplete: boolean }): OutputChunk {
  return { text: "", offset, nextOffset: offset, totalBytes: offset, droppedBefore: null, isComplete }
}

/** Passes on what is left before the answer. What the listener throws changes nothing about the call. */
export async function finishFollowing(
  scope: HasLog,
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
