import { describe, expect } from "vitest"
import type { Wake } from "../../task/bus.ts"
import type { Engine } from "../../task/engine.ts"
import { DEFAULT_WORKSPACE, type TaskId } from "../../task/id.ts"
import { applyEvents, COMPLETED, createEndedTask, createSession, createTask, RUNNING, STARTED } from "./samples.ts"
import { type EngineTest, waitUntil } from "./subject.ts"

const NOTES = 30

export function describeEvents(test: EngineTest): void {
  describe("events", () => {
    test("are read from any cursor, at most as many as asked for", async ({ engine }) => {
      const { id } = await createTask(engine)
      await applyEvents(engine, id, STARTED, COMPLETED)
      const sequences = async (after: number, limit: number) =>
        (await engine.store.events(id, after, limit)).map(({ sequence }) => sequence)
      expect(await sequences(0, 10)).toEqual([1, 2, 3])
      expect(await sequences(1, 10)).toEqual([2, 3])
      expect(await sequences(0, 2)).toEqual([1, 2])
      expect(await sequences(3, 10)).toEqual([])
    })

    test("of other tasks are out of reach, whatever the cursor says", async ({ engine }) => {
      const tasks = [await createTask(engine), await createTask(engine), await createTask(engine)]
      for (const { id } of tasks) {
        for (const cursor of [-1, -(2 ** 32), 2 ** 32, Number.MAX_SAFE_INTEGER]) {
          const found = await engine.store.events(id, cursor, 10)
          expect(found.map(({ sequence }) => sequence)).toEqual(cursor < 0 ? [1] : [])
        }
      }
    })

    test("have numbers without a gap under many writers", async ({ engine, another }) => {
      const other = await another()
      const { id } = await createTask(engine, RUNNING)
      await Promise.all(Array.from({ length: NOTES }, (_, index) => note(index % 2 ? engine : other, id, index)))
      const sequences = (await engine.store.events(id, 0, 100)).map(({ sequence }) => sequence)
      expect(sequences).toEqual(Array.from({ length: NOTES + 2 }, (_, index) => index + 1))
      expect((await engine.store.task(id))?.lastSequence).toBe(NOTES + 2)
    })

    for (const place of ["here", "in another process"] as const)
      test(`a reader that subscribes and then reads from its cursor misses and repeats nothing, written ${place}`, async ({
        engine,
        another,
      }) => {
        const writer = place === "here" ? engine : await another()
        const { id } = await createTask(engine, RUNNING)
        const seen: number[] = []
        const follow = followEvents(engine, id, seen)
        for (let index = 0; index < NOTES; index++) await note(writer, id, index)
        await applyEvents(writer, id, COMPLETED)
        await waitUntil(async () => seen.at(-1) === NOTES + 3)
        await follow.stop()
        expect(seen).toEqual(Array.from({ length: NOTES + 3 }, (_, index) => index + 1))
      })
  })

  describe("the bus", () => {
    test("tells of a task with its sequence, once it can be read", async ({ engine }) => {
      const wakes: Wake[] = []
      const stop = engine.bus.subscribe((wake) => wakes.push(wake))
      const { id } = await createTask(engine)
      await applyEvents(engine, id, STARTED)
      await waitUntil(async () => wakes.length >= 2)
      expect(wakes).toContainEqual({ about: "task", taskId: id, sequence: 1, isLive: true })
      expect(wakes).toContainEqual({ about: "task", taskId: id, sequence: 2, isLive: true })
      stop()
      const before = wakes.length
      await applyEvents(engine, id, COMPLETED)
      expect(wakes).toHaveLength(before)
    })

    test("tells a session of its messages and notices", async ({ engine }) => {
      const session = await createSession(engine)
      const isTold = async () => wakes.some((wake) => wake.about === "session" && wake.sessionId === session)
      const wakes: Wake[] = []
      const stop = engine.bus.subscribe((wake) => wakes.push(wake))
      await engine.store.commit([{ op: "session.update", id: session, expectedVersion: 1, messages: ["hi"] }])
      await waitUntil(isTold)
      wakes.length = 0
      await createEndedTask(engine, { session })
      await waitUntil(isTold)
      stop()
    })

    test("tells the session that a document was left for, here and in another process", async ({ engine, another }) => {
      const other = await another()
      const session = await createSession(engine)
      const place = { workspace: DEFAULT_WORKSPACE, collection: "left", id: "words" }
      const here: Wake[] = []
      let isFound = false
      const stops = [
        engine.bus.subscribe((wake) => here.push(wake)),
        other.bus.subscribe((wake) => {
          if (wake.about !== "unknown" && (wake.about !== "session" || wake.sessionId !== session)) return
          void other.store
            .document(DEFAULT_WORKSPACE, "left", "words")
            .then((found) => (isFound ||= found !== undefined))
        }),
      ]
      await engine.store.commit([{ op: "document.put", ...place, value: "hi", expectedVersion: 0, wakes: session }])
      await waitUntil(async () => isFound)
      for (const stop of stops) stop()
      expect(here).toContainEqual({ about: "session", sessionId: session })
    })

    test("tells of one task only those who asked for it, here and from another process", async ({
      engine,
      another,
    }) => {
      const other = await another()
      const { id } = await createTask(engine, RUNNING)
      let here = 0
      let there = 0
      const stops = [engine.bus.subscribeTask(id, () => here++), other.bus.subscribeTask(id, () => there++)]
      await note(engine, id, 1)
      await waitUntil(async () => here > 0 && there > 0)
      for (const stop of stops) stop()
      const before = here
      await note(engine, id, 2)
      expect(here).toBe(before)
    })

    test("tells nobody of a commit that was refused", async ({ engine }) => {
      const { id } = await createEndedTask(engine)
      const wakes: Wake[] = []
      const stop = engine.bus.subscribe((wake) => wakes.push(wake))
      await engine.store
        .commit([
          { op: "task.note", run: { taskId: id, run: 1 }, facts: [{ type: "task.retrieved" }] },
          { op: "task.apply", run: { taskId: id, run: 1 }, event: COMPLETED },
        ])
        .catch(() => undefined)
      const { id: next } = await createTask(engine)
      await waitUntil(async () => wakes.some((wake) => wake.about === "task" && wake.taskId === next))
      expect(wakes).toHaveLength(1)
      stop()
    })
  })
}

function note({ store }: Engine, taskId: TaskId, done: number): Promise<unknown> {
  const progress = { done, total: NOTES, phase: null, line: null }
  return store.commit([{ op: "task.note", run: { taskId, run: 1 }, facts: [{ type: "task.progressed", progress }] }])
}

/** Reads like every live view: one read at a time from its own cursor, and another if a wake-up came meanwhile. */
function followEvents({ bus, store }: Engine, id: TaskId, seen: number[]): { stop(): Promise<void> } {
  let isWoken = true
  let reading: Promise<void> | undefined
  async function read(): Promise<void> {
    while (isWoken) {
      isWoken = false
      for (const { sequence } of await store.events(id, seen.at(-1) ?? 0, 1_000)) seen.push(sequence)
    }
    reading = undefined
  }
  function wake(): void {
    isWoken = true
    reading ??= read()
  }
  const unsubscribe = bus.subscribeTask(id, wake)
  wake()
  return {
    async stop() {
      unsubscribe()
      await reading
    },
  }
}
