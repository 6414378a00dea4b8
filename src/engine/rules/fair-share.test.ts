import { expect, test } from "vitest"
import { createManualClock } from "../../base/manual-clock.ts"
import { createFairShare, type FairShare } from "./fair-share.ts"

function claim(share: FairShare, workspace: string, times: number): void {
  for (let index = 0; index < times; index++) share.count(workspace)
}

test("a workspace that had its share stands back until the next round", () => {
  const share = createFairShare(createManualClock())
  claim(share, "a", 31)
  expect(share.satisfiedWorkspaces()).toEqual([])
  claim(share, "a", 1)
  claim(share, "b", 1)
  expect(share.satisfiedWorkspaces()).toEqual(["a"])
  expect(share.hadItsShare("b")).toBe(false)
  share.beginRound(1)
  expect(share.hadItsShare("a")).toBe(false)
})

test("a few runs that take long are a share", () => {
  const clock = createManualClock()
  const share = createFairShare(clock)
  claim(share, "a", 1)
  clock.advance(249)
  expect(share.hadItsShare("a")).toBe(false)
  clock.advance(1)
  expect(share.hadItsShare("a")).toBe(true)
})

test("a workspace that was alone goes on for a while, longer if a look takes long, until there are others", () => {
  const clock = createManualClock()
  const share = createFairShare(clock)
  const lengths = [1, 100].map((lookMs) => {
    claim(share, "a", 32)
    share.beginRound(lookMs)
    claim(share, "a", 1_000)
    let lengthMs = 0
    for (; !share.hadItsShare("a"); lengthMs++) clock.advance(1)
    return lengthMs
  })
  expect(lengths).toEqual([250, 1_000])
  share.beginRound(0)
  claim(share, "a", 32)
  expect(share.hadItsShare("a")).toBe(false)
  claim(share, "b", 1)
  expect(share.hadItsShare("a")).toBe(true)
})

test("among several workspaces a share lasts long enough to be worth the look for the next one", () => {
  const clock = createManualClock()
  const share = createFairShare(clock)
  claim(share, "a", 32)
  claim(share, "b", 32)
  share.beginRound(10)
  claim(share, "a", 32)
  expect(share.hadItsShare("a")).toBe(false)
  clock.advance(40)
  expect(share.hadItsShare("a")).toBe(true)
})
