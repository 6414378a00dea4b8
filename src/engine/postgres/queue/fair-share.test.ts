import { expect, test } from "vitest"
import { createFairShare } from "./fair-share.ts"

function claim(share: ReturnType<typeof createFairShare>, workspace: string, times: number): void {
  for (let index = 0; index < times; index++) share.count(workspace)
}

test("a workspace that had its share stands back until the next round", () => {
  const share = createFairShare()
  claim(share, "a", 31)
  expect(share.thoseWhoHadTheirs()).toEqual([])
  claim(share, "a", 1)
  claim(share, "b", 1)
  expect(share.thoseWhoHadTheirs()).toEqual(["a"])
  expect(share.hadItsShare("b")).toBe(false)
  share.beginRound()
  expect(share.hadItsShare("a")).toBe(false)
})

test("shares grow while nobody else is there, and shrink when somebody is", () => {
  const share = createFairShare()
  const sizes = []
  for (let round = 0; round < 7; round++) {
    let size = 0
    for (; !share.hadItsShare("a"); size++) share.count("a")
    sizes.push(size)
    if (round === 5) share.count("b")
    share.beginRound()
  }
  expect(sizes).toEqual([32, 64, 128, 256, 512, 512, 32])
})
