import { expect, test } from "vitest"
import { MeanwhileError } from "./error.ts"
import { lookUntil, type Watch } from "./look-until.ts"
import { createManualClock } from "./manual-clock.ts"

const POLL_MS = 1_000

/** A thing to wait for that counts its looks and its listeners. */
function createSubject() {
  const clock = createManualClock()
  const listeners = new Set<() => void>()
  const subject = {
    clock,
    listeners,
    looks: 0,
    found: undefined as string | undefined,
    duringLook: undefined as (() => void) | undefined,
    wake: () => listeners.forEach((listener) => listener()),
    watch(more: Partial<Watch<string>> = {}): Promise<string | undefined> {
      return lookUntil({
        clock,
        pollMs: POLL_MS,
        async look() {
          subject.looks += 1
          const found = subject.found
          subject.duringLook?.()
          return found
        },
        subscribe(wake) {
          listeners.add(wake)
          return () => void listeners.delete(wake)
        },
        ...more,
      })
    },
  }
  return subject
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test("the first look finds what is already there", async () => {
  const subject = createSubject()
  subject.found = "here"
  expect(await subject.watch()).toBe("here")
  expect(subject.looks).toBe(1)
  expect(subject.listeners.size).toBe(0)
})

test("a wake-up leads to a look, and one look is enough for several wake-ups", async () => {
  const subject = createSubject()
  const watched = subject.watch()
  await settle()
  subject.wake()
  subject.wake()
  await settle()
  expect(subject.looks).toBe(2)
  subject.found = "here"
  subject.wake()
  expect(await watched).toBe("here")
})

test("a wake-up that comes during a look is not lost", async () => {
  const subject = createSubject()
  subject.duringLook = () => {
    subject.duringLook = undefined
    subject.found = "here"
    subject.wake()
  }
  expect(await subject.watch()).toBe("here")
  expect(subject.looks).toBe(2)
})

test("the poll makes up for a lost wake-up", async () => {
  const subject = createSubject()
  let polls = 0
  const watched = subject.watch({ onPoll: () => (polls += 1) })
  await settle()
  subject.found = "here"
  subject.clock.advance(POLL_MS)
  expect(await watched).toBe("here")
  expect(polls).toBe(1)
})

test("an abort ends the wait at once, and nothing listens any more", async () => {
  const subject = createSubject()
  const stop = new AbortController()
  const watched = subject.watch({ signals: [undefined, stop.signal] })
  await settle()
  stop.abort()
  expect(await watched).toBeUndefined()
  expect(subject.listeners.size).toBe(0)
  expect(await subject.watch({ signals: [stop.signal] })).toBeUndefined()
  expect(subject.looks).toBe(1)
})

test("what a look finds counts even if the signal aborts during that look", async () => {
  const subject = createSubject()
  const stop = new AbortController()
  subject.found = "here"
  subject.duringLook = () => stop.abort()
  expect(await subject.watch({ signals: [stop.signal] })).toBe("here")
})

test("the wait ends when its time is over, and one without time does not begin", async () => {
  const subject = createSubject()
  const watched = subject.watch({ timeoutMs: 10 })
  await settle()
  subject.clock.advance(10)
  expect(await watched).toBeUndefined()
  expect(await subject.watch({ timeoutMs: 0 })).toBeUndefined()
  expect(subject.looks).toBe(1)
})

test("a store that refuses a look ends the wait with its error, and nothing listens any more", async () => {
  const subject = createSubject()
  const watched = subject.watch({
    look: () => Promise.reject(new MeanwhileError("store_unavailable", "The store is away.")),
  })
  await expect(watched).rejects.toMatchObject({ code: "store_unavailable" })
  expect(subject.listeners.size).toBe(0)
})
