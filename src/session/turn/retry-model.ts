import { isMeanwhileError, type MeanwhileError } from "../../base/error.ts"
import type { TurnScope } from "./turn-scope.ts"

/** Makes the call again while its error may pass: a rate limit, an overloaded or unreachable provider. */
export async function withRetries<Result>(scope: TurnScope, call: () => Promise<Result>): Promise<Result> {
  const { config } = scope.agents
  for (let attempt = 1; ; attempt++) {
    try {
      await scope.turn.requireOwned()
      return await call()
    } catch (error) {
      scope.turn.signal.throwIfAborted()
      if (!mayPass(error) || attempt > config.maxModelRetries) throw error
      const afterMs = toDelayMs(scope, error, attempt)
      if (afterMs > config.maxModelRetryWaitSeconds * 1_000) throw error
      const reason = error.message
      scope.conversation.emitter.emit({ type: "model_call.retried", attempt, afterMs, reason })
      await wait(scope, afterMs)
    }
  }
}

function mayPass(error: unknown): error is MeanwhileError {
  return isMeanwhileError(error, "rate_limited") || isMeanwhileError(error, "model_unavailable")
}

/** The provider's own delay, else one that doubles, with a spread so that many agents do not come back at once. */
function toDelayMs({ agents }: TurnScope, error: MeanwhileError, attempt: number): number {
  const asked = error.details["retryAfterMs"]
  if (typeof asked === "number" && asked >= 0) return Math.ceil(asked)
  const { modelRetryBaseSeconds, maxModelRetryWaitSeconds } = agents.config
  const doubled = modelRetryBaseSeconds * 1_000 * 2 ** (attempt - 1)
  const spread = 0.5 + agents.random() / 2
  return Math.ceil(Math.min(doubled, maxModelRetryWaitSeconds * 1_000) * spread)
}

async function wait({ agents, turn }: TurnScope, delayMs: number): Promise<void> {
  const { signal } = turn
  // A listener may have stopped the turn when it heard of the retry.
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancelTimer()
      reject(signal.reason)
    }
    const cancelTimer = agents.clock.schedule(delayMs, () => {
      signal.removeEventListener("abort", stop)
      resolve()
    })
    signal.addEventListener("abort", stop, { once: true })
  })
}
