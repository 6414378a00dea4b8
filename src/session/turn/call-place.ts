import type { FunctionCall } from "../../plugin/message.ts"
import type { AskingStep } from "../../task/record.ts"
import { toOnCrash } from "./call-step.ts"
import { saveSoon, settle, type TurnScope } from "./turn-scope.ts"
import { toNextKey, toUnbegunStep } from "./unbegun-step.ts"

/** A call, and where it stands in its turn. */
export interface CallPlace {
  readonly call: FunctionCall
  /** Of the message that asks for it. */
  readonly position: number
  /** Of its step: another one once a person was asked about it. */
  readonly key: string
  /** By an earlier claim of the turn: it may have done something, whatever comes of it now. */
  readonly wasBegun: boolean
  /** A person is to be asked whether it may run. Resolves when it is durable that it has not begun. */
  noteAsked(): Promise<void>
  /** It goes on: allowed, or as a task that waits for them. Returns the step that asks from now on. */
  noteDecided(isAllowed: boolean): Promise<AskingStep | undefined>
}

/**
 * A call is written as begun with the message that asks for it; before a person is asked about it, that is taken back.
 *
 * Dying while they are asked: it is asked about again. After they have allowed it: its tool's `onCrash` decides.
 */
export function createCallPlace(
  scope: TurnScope,
  { call, position, key: first, wasBegun }: Pick<CallPlace, "call" | "position" | "key" | "wasBegun">,
): CallPlace {
  let key = first
  return {
    call,
    position,
    get key() {
      return key
    },
    wasBegun,
    async noteAsked() {
      if (wasBegun) return
      const unbegun = toUnbegunStep(key)
      key = toNextKey(key)
      saveSoon(scope, { entries: [], finished: [unbegun] })
      await settle(scope)
    },
    async noteDecided(isAllowed) {
      // From here on a crash finds it in flight.
      if (isAllowed && !wasBegun)
        await scope.turn.save({ entries: [], started: [{ key, onCrash: toOnCrash(scope, call) }] })
      return scope.turn.askingStep(key)
    },
  }
}
