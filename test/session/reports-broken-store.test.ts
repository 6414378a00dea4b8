import { expect, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { Operation } from "../../src/task/operation.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import {
  advanceUntil,
  notificationsOf,
  openReporting,
  reported,
  reportsOf,
  starts,
  tasksOf,
  waitForEnds,
} from "../support/session/reporting.ts"

const beginsReport = (operations: readonly Operation[]): boolean =>
  operations.some((one) => one.op === "task.create" && "report" in one.details.metadata)

test("a report that cannot be written is tried again now and then, and made when the store is well again", async () => {
  const clock = createManualClock()
  const warnings: string[] = []
  const log = { debug() {}, info() {}, warn: (text: string) => void warnings.push(text), error() {} }
  const agent = await openReporting([starts("bread"), "It runs.", "The bread is ready."], { clock, log })
  await agent.session.send("bake")
  let isFull = true
  let attempts = 0
  interceptCommits(agent.runtime, (operations, commit) => {
    if (!isFull || !beginsReport(operations)) return commit(operations)
    attempts += 1
    return Promise.reject(new MeanwhileError("store_unavailable", "The disk is full."))
  })
  ;(await agent.gated.call(1)).finish("a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  await eventually("the report is given up for now", () => {
    clock.advance(500)
    return warnings.includes("results could not be reported")
  })
  // It is tried for a quarter of a minute, in pauses that become longer.
  expect(attempts).toBeLessThanOrEqual(20)
  expect(warnings).toContain("results could not be reported")
  isFull = false
  clock.advance(5_000)
  await advanceUntil(clock, "it is reported", () => reportsOf(agent).length > 0)
  expect(reportsOf(agent)).toEqual(["The bread is ready."])
})

test("a report whose commit meets a conflict is made later, and the person gets no notification beside it", async () => {
  const clock = createManualClock()
  const agent = await openReporting([starts("bread"), "It runs.", "The bread is ready."], { clock })
  await agent.session.send("bake")
  let attempts = 0
  interceptCommits(agent.runtime, (operations, commit) => {
    if (!beginsReport(operations)) return commit(operations)
    attempts += 1
    if (attempts > 1) return commit(operations)
    return Promise.reject(new MeanwhileError("version_conflict", "The session has changed."))
  })
  ;(await agent.gated.call(1)).finish("a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  await advanceUntil(clock, "it is reported", () => reportsOf(agent).length > 0)
  await reported(agent, clock)
  expect([attempts, reportsOf(agent), notificationsOf(agent)]).toEqual([2, ["The bread is ready."], []])
})
