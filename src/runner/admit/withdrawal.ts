import { MeanwhileError } from "../../base/error.ts"
import type { StopRequest } from "../../plugin/task-service.ts"

/** Tells permission that the call is no longer wanted. Most calls never need the signal. */
export interface Withdrawal {
  readonly signal: AbortSignal
}

export const NEVER_WITHDRAWN: Withdrawal = { signal: new AbortController().signal }

/** The withdrawal of a call as its caller holds it. */
export interface OwnWithdrawal extends Withdrawal {
  /** Undefined as long as the call is wanted. */
  readonly cause: Required<StopRequest> | undefined
  withdraw(cause: Required<StopRequest>): void
}

export function createWithdrawal(): OwnWithdrawal {
  return new LazyWithdrawal()
}

/**
 * Its controller is made when somebody looks at the signal: only a question to a person needs it. A class, as wherever
 * every call has an object with a getter: the getter of an object literal belongs to a hidden class of its own, and
 * with it all that it reaches stays in memory until the next full garbage collection.
 */
class LazyWithdrawal implements OwnWithdrawal {
  #controller: AbortController | undefined
  cause: Required<StopRequest> | undefined

  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal
  }

  withdraw(cause: Required<StopRequest>): void {
    this.cause ??= cause
    this.#controller ??= new AbortController()
    this.#controller.abort(new MeanwhileError("closed", cause.reason))
  }
}
