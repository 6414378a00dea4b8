import * as fc from "fast-check"
import type { LifecycleEventType } from "../../task/lifecycle.ts"
import { EXPECTED_EVENT_TYPES } from "./oracle.ts"
import type { Action, FenceChoice, StoreModel } from "./store-model.ts"

const SLOTS = 3
const HOLDERS = ["one", "two"] as const

/** An action before it is known which run and fence are current. */
export interface Draft {
  readonly do: Action["do"]
  readonly slot: number
  readonly bySlot: number
  readonly fence: FenceChoice
  readonly type: LifecycleEventType
  readonly key: string
  readonly holder: (typeof HOLDERS)[number]
  readonly flag: boolean
  readonly third: 0 | 1 | 2
}

/**
 * Not drawn here: an answer goes through its wait, and only a deadline ends as `timed_out`. Both have tests of their
 * own.
 */
const NEEDS_MORE: ReadonlySet<LifecycleEventType> = new Set(["task.answered", "task.timed_out"])

export const draftArbitrary: fc.Arbitrary<Draft> = fc.record({
  do: fc.oneof(
    { weight: 3, arbitrary: fc.constant("create" as const) },
    { weight: 8, arbitrary: fc.constant("apply" as const) },
    { weight: 2, arbitrary: fc.constantFrom("note" as const, "step" as const) },
    { weight: 2, arbitrary: fc.constant("begin" as const) },
    { weight: 2, arbitrary: fc.constantFrom("notice" as const, "lease" as const) },
  ),
  slot: fc.nat(SLOTS - 1),
  bySlot: fc.nat(SLOTS - 1),
  fence: fc.constantFrom<FenceChoice>("none", "current", "stale"),
  type: fc.constantFrom(...EXPECTED_EVENT_TYPES.filter((type) => !NEEDS_MORE.has(type))),
  key: fc.constantFrom("a", "b"),
  holder: fc.constantFrom(...HOLDERS),
  flag: fc.boolean(),
  third: fc.constantFrom(0, 1, 2),
})

/** Fixes run and fence as a writer would who read the store just before. */
export function toAction(model: StoreModel, draft: Draft): Action {
  const { slot, bySlot, key, holder, type, flag, third } = draft
  const task = model.tasks.get(slot)
  const run = task?.run ?? 1
  const fence = toFence(draft.fence, task?.fence ?? 0)
  switch (draft.do) {
    case "create":
      return { do: "create", slot, as: flag ? "queued" : "running", isTurn: third === 0 }
    case "apply":
      return { do: "apply", slot, run: third === 0 && flag ? run + 1 : run, fence, type }
    case "note":
      return { do: "note", slot, run: third === 0 ? Math.max(1, run - 1) : run, fence }
    case "step":
      return { do: "step", slot, run, fence, key, isFinish: flag }
    case "begin":
      return { do: "begin", slot, run }
    case "notice": {
      const by = { slot: bySlot, run: model.tasks.get(bySlot)?.run ?? 1 }
      return { do: "notice", how: flag ? "claim" : "consume", slot, run, by }
    }
    case "lease": {
      const how = (["take", "renew", "release"] as const)[third]
      return { do: "lease", how, holder, fence: flag ? model.lease.taken : model.lease.taken - 1 }
    }
  }
}

function toFence(choice: FenceChoice, current: number): number | undefined {
  if (choice === "none") return undefined
  return choice === "current" ? current : current - 1
}
