import type { FunctionCall } from "../../plugin/message.ts"
import type { AskingStep } from "../../task/record.ts"
import { toOnCrash } from "./call-step.ts"
import { saveSoon, settle, type TurnScope } from "./turn-scope.ts"
import { toNextKey, toUnbegunStep } from "./unbegun-step.ts"

/** A call, and where it stands in its turn. */
export interface CallPlace extends CallPosition {
  /** A person is to be asked whether it may run. Resolves when it is durable that it has not begun. */
  noteAsked(): Promise<void>
  /** It goes on: allowed, or as a task that waits for them. Returns the step that asks from now on. */
  noteDecided(isAllowed: boolean): Promise<AskingStep | undefined>
}

interface CallPosition {
  readonly call: FunctionCall
  /** The position of the message that makes the call. */
  readonly position: number
  /** The key of its step. It changes once a person was asked about the call. */
  readonly key: string
  /** By an earlier claim of the turn: it may have done something, whatever comes of it now. */
  readonly wasBegun: boolean
}

/**
 * A call is written as begun with the message that asks for it; before a person is asked about it, that is taken back.
 *
 * Dying while they are asked: it is asked about again. After they have allowed it: its tool's `onCrash` decides.
 */
export function createCallPlace(scope: TurnScope, place: CallPosition): CallPlace {
  return new NotedPlace(scope, place)
}

/** A class, as `LazyWithdrawal` is: every call has one, and its key changes. */
class NotedPlace implements CallPlace {
  readonly call: FunctionCall
  readonly position: number
  readonly wasBegun: boolean
  key: string
  readonly #scope: TurnScope

  constructor(scope: TurnScope, { call, position, key, wasBegun }: CallPosition) {
    this.call = call
    this.position = position
    this.wasBegun = wasBegun
    this.key = key
    this.#scope = scope
  }

  async noteAsked(): Promise<void> {
    if (this.wasBegun) return
    const unbegun = toUnbegunStep(this.key)
    this.key = toNextKey(this.key)
    saveSoon(this.#scope, { entries: [], finished: [unbegun] })
    await settle(this.#scope)
  }

  async noteDecided(isAllowed: boolean): Promise<AskingStep | undefined> {
    const { turn } = this.#scope
    const { key } = this
    // From here on a crash finds it in flight.
    if (isAllowed && !this.wasBegun)
      await turn.save({ entries: [], started: [{ key, onCrash: toOnCrash(this.#scope, this.call) }] })
    return turn.askingStep(key)
  }
}
