import type { FunctionCall } from "../../plugin/message.ts"
import type { AskingStep } from "../../task/record.ts"
import type { TurnScope } from "./turn-scope.ts"
import type { OnCrash, Step } from "../../task/step.ts"
import { toPolicy } from "../../runner/admit/details.ts"
import { offeredTools } from "../conversation/context.ts"
import type { OfferedTool } from "../model/tool-list.ts"
import { isJsonObject } from "../../base/json.ts"
import type { FinishedStep } from "../log/session-log.ts"

/** The step of a call: unique in its turn, and the same when another claim goes on with it. */
export function toStepKey(position: number, { id }: FunctionCall): string {
  return `${position}/${id}`
}

/** The tool's `onCrash`. */
export function toOnCrash(scope: TurnScope, call: FunctionCall): OnCrash {
  return findOffered(scope, call)?.found.tool.onCrash ?? "fail"
}

export function findOffered({ services, conversation }: TurnScope, { tool }: FunctionCall): OfferedTool | undefined {
  return offeredTools(services, conversation).find(({ name }) => name === tool)
}

/** Undefined: it stays in the foreground, or its input is none that the tool takes. */
export function toBackgroundAfterMs(
  { services }: TurnScope,
  { input }: FunctionCall,
  { found }: OfferedTool,
): number | undefined {
  const parsed = found.tool.input.safeParse(input)
  const policy = parsed.success ? toPolicy(found.tool, parsed.data) : null
  return policy?.mode === "after" ? (policy.ms ?? services.config.background.thresholdSeconds * 1_000) : undefined
}

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
    this.#scope.turn.saveSoon({ entries: [], finished: [unbegun] })
    await this.#scope.turn.settle()
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

/** In place of an answer: nothing was done. */
const UNBEGUN = { unbegun: true } as const

/** The step of a call that was not begun. */
export function toUnbegunStep(key: string): FinishedStep {
  return { key, result: UNBEGUN }
}

/** The step under which the call was, or is to be, begun: each time that it was not, the next one counts. */
export function findCurrentKey(steps: ReadonlyMap<string, Step>, first: string): string {
  let key = first
  while (isUnbegun(steps.get(key))) key = toNextKey(key)
  return key
}

/** The key of the step that follows one that was not begun. */
function toNextKey(key: string): string {
  return `${key}/again`
}

function isUnbegun(step: Step | undefined): boolean {
  return step?.state === "finished" && isJsonObject(step.result) && "unbegun" in step.result
}
