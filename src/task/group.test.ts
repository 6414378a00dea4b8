import { expect, test } from "vitest"
import { canMoveGroup, GROUP_LIFECYCLE, type GroupState } from "./group.ts"

const STATES = Object.keys(GROUP_LIFECYCLE) as GroupState[]

test("a group is open, then sealed, then joined, and can be cancelled until it joined", () => {
  const allowed = STATES.flatMap((from) => STATES.filter((to) => canMoveGroup(from, to)).map((to) => `${from} → ${to}`))
  expect(allowed).toEqual(["open → sealed", "open → cancelled", "sealed → joined", "sealed → cancelled"])
})
