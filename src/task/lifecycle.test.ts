import { describe, expect, test } from "vitest"
import { EXPECTED_EVENT_TYPES, expectStatus, hasEnded, isLive } from "../engine/suite/oracle.ts"
import {
  isTerminal,
  LIFECYCLE,
  LIVE_STATUSES,
  nextStatus,
  RUN_STATUSES,
  STOPPABLE_STATUSES,
  TERMINAL_STATUSES,
} from "./lifecycle.ts"

describe("the lifecycle of a run", () => {
  test("leads from each status by each event where the tests' own table says", () => {
    const ways = (find: typeof nextStatus) =>
      RUN_STATUSES.flatMap((status) => EXPECTED_EVENT_TYPES.map((type) => `${status} ${type} ${find(status, type)}`))
    expect(ways(nextStatus)).toEqual(ways(expectStatus))
    const types = new Set(Object.values(LIFECYCLE).flatMap((waysOut) => Object.keys(waysOut)))
    expect([...types].toSorted()).toEqual(EXPECTED_EVENT_TYPES.toSorted())
    expect(RUN_STATUSES.filter(isTerminal)).toEqual(RUN_STATUSES.filter(hasEnded))
    expect(RUN_STATUSES.filter(isLive)).toEqual(LIVE_STATUSES)
  })

  test("every status is either live or terminal", () => {
    expect([...LIVE_STATUSES, ...TERMINAL_STATUSES].toSorted()).toEqual([...RUN_STATUSES].toSorted())
    for (const status of LIVE_STATUSES) expect(isTerminal(status)).toBe(false)
    for (const status of TERMINAL_STATUSES) expect(isTerminal(status)).toBe(true)
  })

  test("a terminal status has no way out, a live one has", () => {
    for (const status of TERMINAL_STATUSES) expect(Object.keys(LIFECYCLE[status])).toEqual([])
    for (const status of LIVE_STATUSES) expect(Object.keys(LIFECYCLE[status]).length).toBeGreaterThan(0)
  })

  test("a task can be asked to stop where a stop leads on, unless it is stopping", () => {
    const leadsOn = RUN_STATUSES.filter((status) =>
      (["task.stop_requested", "task.cancelled"] as const).some((type) => nextStatus(status, type) !== undefined),
    )
    expect(leadsOn.filter((status) => status !== "stopping")).toEqual(STOPPABLE_STATUSES)
  })

  test("every status is reached from queued, and every event leads somewhere", () => {
    const reached = new Set<string>(["queued"])
    for (const _ of RUN_STATUSES) {
      const left = RUN_STATUSES.filter((status) => reached.has(status))
      for (const next of left.flatMap((status) => Object.values(LIFECYCLE[status]))) reached.add(next)
    }
    expect([...reached].toSorted()).toEqual([...RUN_STATUSES].toSorted())
    for (const type of EXPECTED_EVENT_TYPES)
      expect(RUN_STATUSES.some((status) => nextStatus(status, type) !== undefined)).toBe(true)
  })

  test("only a claimed run completes or fails, and a stopping run ends as cancelled or timed_out", () => {
    for (const status of RUN_STATUSES) {
      expect(nextStatus(status, "task.completed")).toBe(status === "running" ? "completed" : undefined)
      expect(nextStatus(status, "task.failed")).toBe(status === "running" ? "failed" : undefined)
    }
    expect(Object.values(LIFECYCLE.stopping).toSorted()).toEqual(["cancelled", "timed_out"])
  })

  test("a waiting run goes on only through the queue", () => {
    expect(nextStatus("waiting", "task.answered")).toBe("queued")
    expect(nextStatus("waiting", "task.started")).toBeUndefined()
  })
})
