import { MeanwhileError } from "../../base/error.ts"

/** Tells whoever is asked for permission that the call is no longer wanted. Most calls never need the signal. */
export interface Withdrawal {
  readonly signal: AbortSignal
}

export const NEVER_WITHDRAWN: Withdrawal = { signal: new AbortController().signal }

export function createWithdrawal(): Withdrawal & { withdraw(reason: string): void } {
  return new LazyWithdrawal()
}

/**
 * Its controller is made when somebody looks at the signal: only a question to a person needs it. A class, as wherever
 * every call has an object with a getter: the getter of an object literal belongs to a hidden class of its own, and with
 * it all that it reaches stays in memory until the next full garbage collection.
 */
class LazyWithdrawal implements Withdrawal {
  #controller: AbortController | undefined

  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal
  }

  withdraw(reason: string): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(new MeanwhileError("closed", reason))
  }
}
