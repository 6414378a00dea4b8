import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { assertProperty } from "../../test/support/assert-property.ts"
import { TEST_SEED } from "../../test/support/chaos/seed.ts"
import { expectStatus, isLive } from "../engine/suite/oracle.ts"
import type { LifecycleEvent } from "./event.ts"
import { createWaitId, createWorkerId } from "./id.ts"
import { toPatch } from "./patch.ts"
import type { Run } from "./record.ts"
import { STOPPERS } from "./stop.ts"
import { transition } from "./lifecycle.ts"
import type { Wait } from "./wait.ts"

const WAIT: Wait = { id: createWaitId(), reason: "person", question: null, expiresAt: null, onExpiry: null }
const QUEUED: Run = {
  course: { run: 1, fence: 0, queuedAt: 0, startedAt: null, ranMs: 0 },
  state: { status: "queued", availableAt: 0 },
}
const failure = { code: "broken", message: "It broke.", details: {} }

/**
 * Events that may be refused although the table has a transition: an answer to another wait, an end that the stop did
 * not ask for.
 */
const MAY_BE_REFUSED: ReadonlySet<string> = new Set(["task.answered", "task.cancelled", "task.timed_out"])

const stopper = fc.constantFrom(...STOPPERS)
const patch = fc.option(fc.constant(toPatch("late")), { nil: null })
const ranMs = fc.option(fc.nat(1_000), { nil: undefined })

const eventArbitrary: fc.Arbitrary<LifecycleEvent> = fc.oneof(
  fc.constant<LifecycleEvent>({ type: "task.started", worker: createWorkerId() }),
  ranMs.map((ran): LifecycleEvent => ({ type: "task.waited", wait: WAIT, ...(ran !== undefined && { ranMs: ran }) })),
  fc.constantFrom(WAIT.id, createWaitId()).map((waitId): LifecycleEvent => ({ type: "task.answered", waitId })),
  fc
    .record({ reason: fc.constantFrom("shutdown", "lost_worker", "adopted"), delayMs: fc.nat(1_000) })
    .map((rest): LifecycleEvent => ({ type: "task.released", ...rest })),
  stopper.map((by): LifecycleEvent => ({ type: "task.stop_requested", by, reason: "enough" })),
  fc.constant<LifecycleEvent>({ type: "task.completed", patch: toPatch("done") }),
  patch.map((handed): LifecycleEvent => ({ type: "task.failed", failure, patch: handed })),
  stopper.map((by): LifecycleEvent => ({ type: "task.interrupted", by, failure })),
  fc
    .record({ type: fc.constantFrom("task.cancelled", "task.timed_out"), by: stopper, late: patch })
    .map((rest): LifecycleEvent => ({ ...rest, reason: "enough", survivors: [] })),
)

/** Events with the time that passes before each; a wall clock may also go back. */
const historyArbitrary = fc.array(
  fc.record({ event: eventArbitrary, afterMs: fc.integer({ min: -500, max: 5_000 }) }),
  {
    maxLength: 30,
  },
)

function forEachStep(check: (before: Run, event: LifecycleEvent, after: Run | undefined, now: number) => void): void {
  assertProperty(
    fc.property(historyArbitrary, (history) => {
      let run = QUEUED
      let now = 1_000
      for (const { event, afterMs } of history) {
        now += afterMs
        const before = structuredClone(run)
        const after = transition(run, event, now)
        expect(run).toEqual(before)
        check(run, event, after, now)
        run = after ?? run
      }
    }),
    { numRuns: 500 },
  )
}

describe(`any sequence of events (seed ${TEST_SEED})`, () => {
  test("never leaves a terminal status and makes no transition that the table does not have", () => {
    forEachStep((before, event, after) => {
      if (!isLive(before.state.status)) expect(after).toBeUndefined()
      const expected = expectStatus(before.state.status, event.type)
      if (after) expect(after.state.status).toBe(expected)
      else if (!MAY_BE_REFUSED.has(event.type)) expect(expected).toBeUndefined()
    })
  })

  test("raises the fence with each claim and at no other time", () => {
    forEachStep((before, event, after) => {
      if (after) expect(after.course.fence).toBe(before.course.fence + (event.type === "task.started" ? 1 : 0))
    })
  })

  test("never changes the number of the run and never counts time backwards", () => {
    forEachStep((before, _event, after) => {
      if (!after) return
      expect(after.course.run).toBe(before.course.run)
      expect(after.course.ranMs).toBeGreaterThanOrEqual(before.course.ranMs)
      if (before.state.status !== "running") expect(after.course.ranMs).toBe(before.course.ranMs)
    })
  })

  test("ends a stop by a deadline as timed_out and any other stop as cancelled", () => {
    forEachStep((before, _event, after) => {
      if (after?.state.status !== "cancelled" && after?.state.status !== "timed_out") return
      expect(after.state.status === "timed_out").toBe(after.state.stop.by === "deadline")
      if (before.state.status === "stopping") expect(after.state.stop).toEqual(before.state.stop)
    })
  })

  test("stamps every end with the time it is told", () => {
    forEachStep((_before, _event, after, now) => {
      if (after && "endedAt" in after.state) expect(after.state.endedAt).toBe(now)
    })
  })
})

describe("a transition", () => {
  const started = transition(QUEUED, { type: "task.started", worker: createWorkerId() }, 100)
  if (!started) throw new Error("a queued run starts")

  test("counts the time a run ran, as its worker measured it or by the wall clock", () => {
    expect(transition(started, { type: "task.completed", patch: toPatch(null) }, 350)?.course.ranMs).toBe(250)
    expect(transition(started, { type: "task.waited", wait: WAIT, ranMs: 7 }, 350)?.course.ranMs).toBe(7)
    const stop = { type: "task.stop_requested", by: "person", reason: "enough", ranMs: 7 } as const
    expect(transition(started, stop, 350)?.course.ranMs).toBe(7)
    expect(transition(started, { type: "task.released", reason: "lost_worker" }, 350)?.course.ranMs).toBe(0)
    expect(transition(started, { type: "task.completed", patch: toPatch(null) }, 50)?.course.ranMs).toBe(0)
  })

  test("makes a run that was handed back with a delay available later", () => {
    const released = transition(started, { type: "task.released", reason: "shutdown", delayMs: 40 }, 200)
    expect(released?.state).toEqual({ status: "queued", availableAt: 240 })
    expect(released?.course.queuedAt).toBe(200)
  })

  test("takes an answer to the wait that is open and to no other", () => {
    const waiting = transition(started, { type: "task.waited", wait: WAIT }, 200)
    if (!waiting) throw new Error("a running run waits")
    expect(transition(waiting, { type: "task.answered", waitId: createWaitId() }, 300)).toBeUndefined()
    const answered = transition(waiting, { type: "task.answered", waitId: WAIT.id }, 300)
    expect(answered?.state).toEqual({ status: "queued", availableAt: 300 })
  })
})
