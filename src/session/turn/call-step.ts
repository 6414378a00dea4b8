import type { FunctionCall } from "../../plugin/message.ts"
import { parse } from "../../plugin/schema.ts"
import type { AskingStep } from "../../task/record.ts"
import type { TurnScope } from "./turn-scope.ts"
import type { OnCrash, Step } from "../../task/step.ts"
import { toPolicy } from "../../runner/admit/details.ts"
import { offeredTools } from "../conversation/context.ts"
import type { OfferedTool } from "../model/tool-list.ts"
import { isJsonObject } from "../../base/json.ts"
import type { FinishedStep } from "../log/session-log.ts"

/** The key of a call's step: unique in its turn, and the same when another claim goes on with the turn. */
export function toStepKey(position: number, { id }: FunctionCall): string {
  return `${position}/${id}`
}

/** The `onCrash` of the call's tool; `fail` if the session is not offered that tool. */
export function toOnCrash(scope: TurnScope, call: FunctionCall): OnCrash {
  return findOffered(scope, call)?.found.tool.onCrash ?? "fail"
}

export function findOffered({ services, conversation }: TurnScope, { tool }: FunctionCall): OfferedTool | undefined {
  const offered = offeredTools(services, conversation)
  return (
    offered.find(({ told }) => told.name === tool) ?? offered.find(({ found }) => found.tool.otherNames?.includes(tool))
  )
}

/** Undefined if the call is not promoted by time, or if its input is not valid. */
export function toBackgroundAfterMs(
  { services }: TurnScope,
  { input }: FunctionCall,
  { found }: OfferedTool,
): number | undefined {
  const parsed = parse(found.tool.input, input)
  const policy = parsed.success ? toPolicy(found.tool, parsed.data) : null
  return policy?.mode === "after" ? (policy.ms ?? services.config.background.thresholdSeconds * 1_000) : undefined
}

/** A call, and where it stands in its turn. */
export interface CallPlace extends CallPosition {
  /** Called before a person is asked whether the call may run. Resolves when it is durable that the call has not begun. */
  noteAsked(): Promise<void>
  /**
   * Called when the call goes on: allowed, or as a task that waits for the person. Returns the step that asks from now on.
   */
  noteDecided(isAllowed: boolean): Promise<AskingStep | undefined>
}

interface CallPosition {
  readonly call: FunctionCall
  /** The position of the message that makes the call. */
  readonly position: number
  /** The key of the call's step. It changes when a person is asked about the call. */
  readonly key: string
  /** True if an earlier claim of the turn began the call: it may have done something already. */
  readonly wasBegun: boolean
}

/**
 * A call is written as begun together with the message that asks for it. Before a person is asked about the call, that is
 * taken back.
 *
 * After a crash while the person is asked, they are asked again. After a crash once they have allowed the call, its tool's
 * `onCrash` decides.
 */
export function createCallPlace(scope: TurnScope, place: CallPosition): CallPlace {
  return new NotedPlace(scope, place)
}

/**
 * A class, because the key changes: a getter of an object literal would keep every call in memory until the next full
 * garbage collection.
 */
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
    // A crash from here on finds the call in flight.
    if (isAllowed && !this.wasBegun)
      await turn.save({ entries: [], started: [{ key, onCrash: toOnCrash(this.#scope, this.call) }] })
    return turn.askingStep(key)
  }
}

/** Stored in place of an answer: nothing was done. */
const UNBEGUN = { unbegun: true } as const

/** The step of a call that was not begun. */
export function toUnbegunStep(key: string): FinishedStep {
  return { key, result: UNBEGUN }
}

/**
 * The key of the step under which the call was begun or will be. Every step that ended as not begun leads on to the next.
 */
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
