import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { systemClock } from "../../src/base/clock.ts"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import type { OutputChunk } from "../../src/plugin/output.ts"
import type { TaskId } from "../../src/task/id.ts"
import { assertProperty } from "../support/assert-property.ts"
import { isLong } from "../support/chaos/seed.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, type GatedCall } from "../support/tools.ts"
import { createWorkplace, type Workplace } from "../support/workplace.ts"
import type { TestRuntime } from "../support/test-engine.ts"

/** A worker that still has a run has no slot for it when the run is queued again: another worker takes it. */
const background = { leaseSeconds: 3, maxConcurrentTasks: 1 }
/** Small enough for looks in between: a worker counts no silence of others from a time when it stood still itself. */
const LITTLE_MS = 50
const LEASE_MS = 10_000
const ROUNDS = isLong ? 60 : 2

interface Holder {
  readonly runtime: TestRuntime
  readonly clock: ManualClock
  readonly call: GatedCall
}

interface Takeovers {
  readonly place: Workplace
  /** Another process, whose clock goes on. */
  readonly reader: TestRuntime
  readonly id: TaskId
  /** Workers that have had the run, and the one that has it. A worker's clock stands still until the test moves it. */
  readonly holders: readonly Holder[]
  holder(): Holder
  /** The newest holder prints. Resolves when every process can read that, or only those on its machine. */
  print(text: string, where?: "everywhere" | "here"): Promise<void>
  /** The newest holder stands still for longer than its lease, and another worker runs the task again. */
  takeOver(): Promise<void>
}

async function startTakeovers(): Promise<Takeovers> {
  const gated = createGatedTool({ onCrash: "retry", obeys: true })
  const first = createManualClock()
  const place = await createWorkplace({ tools: [gated.tool], background, clock: first })
  const { id } = await place.meanwhile.tasks.start({ tool: "gated", input: {} })
  const reader = await place.another({ takesWork: false, clock: systemClock })
  const holders: Holder[] = [{ runtime: place.meanwhile, clock: first, call: await gated.call(1) }]
  const holder = (): Holder => {
    const newest = holders.at(-1)
    if (!newest) throw new Error("Nobody has the run.")
    return newest
  }
  return {
    place,
    reader,
    id,
    holders,
    holder,
    async print(text, where = "everywhere") {
      const { call, clock, runtime } = holder()
      const { tasks } = where === "here" ? runtime : reader
      const { totalBytes } = await runtime.tasks.output(id)
      call.context.output.write(text)
      await eventually("it is kept", async () => {
        if (where === "everywhere") clock.advance(LITTLE_MS)
        return (await tasks.output(id)).totalBytes >= totalBytes + text.length
      })
    },
    async takeOver() {
      const clock = createManualClock()
      const runtime = await place.another({ clock })
      const call = await eventually("another worker runs it", () => {
        clock.advance(LITTLE_MS)
        return gated.calls[holders.length]
      })
      holders.push({ runtime, clock, call })
    },
  }
}

/** The output as another process reads it, text by text. */
async function readTexts({ tasks }: TestRuntime, id: TaskId, limitBytes = 1_000): Promise<readonly OutputChunk[]> {
  const chunks: OutputChunk[] = []
  for (let offset = 0; ; ) {
    const chunk = await tasks.output(id, { offset, limitBytes })
    chunks.push(chunk)
    if (chunk.isComplete) return chunks
    expect(chunk.nextOffset).toBeGreaterThan(offset)
    offset = chunk.nextOffset
  }
}

describe("H3. A run taken over prints into its own stream: nothing of the former holder is repeated, nothing of the new one is lost, and complete means complete", () => {
  test("of a holder that stood still and one that did the run again, while it goes on and afterwards", async () => {
    const { reader, id, holder, holders, print, takeOver } = await startTakeovers()
    await print("0\n1\n", "here")
    await takeOver()
    const digits = Array.from({ length: 6 }, (_, digit) => `${digit}\n`)
    await print(digits.slice(0, 2).join(""))
    await print(digits.slice(2).join(""), "here")
    // It has not looked at its lease yet.
    holders[0]?.call.context.output.write("late\n")
    holder().call.finish("done")
    await reader.tasks.result(id, { waitMs: 30_000 })
    const text = `0\n1\n${digits.join("")}`
    for (const runtime of [reader, holder().runtime]) {
      expect(await runtime.tasks.output(id)).toMatchObject({ text, totalBytes: 16, restartedAt: 4, isComplete: true })
      expect(await readTexts(runtime, id)).toMatchObject([
        { text: "0\n1\n", restartedAt: null, isComplete: false },
        { text: digits.join(""), offset: 4, restartedAt: 4, isComplete: true },
      ])
      expect(await runtime.tasks.output(id, { tailBytes: 13 })).toMatchObject({
        text: digits.join(""),
        droppedBefore: null,
      })
    }
  })

  test("and a tool reads what it has printed itself, not what was printed before it", async () => {
    const { holder, print, takeOver } = await startTakeovers()
    await print("before\n")
    await takeOver()
    await print("after\n")
    expect(await holder().call.context.output.read({})).toMatchObject({ text: "after\n", offset: 7, restartedAt: 7 })
  })

  test("a holder that looks at its lease before it prints keeps nothing", async () => {
    const { id, holders, holder, print, takeOver } = await startTakeovers()
    await print("before\n")
    await takeOver()
    const [former] = holders
    former?.clock.advance(LEASE_MS)
    former?.call.context.output.write("late\n")
    await print("after\n")
    holder().call.finish()
    const { task } = await holder().runtime.tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "completed", fence: 2 })
    expect((await holder().runtime.tasks.output(id)).text).toBe("before\nafter\n")
  })

  test("a run that was handed back when its worker closed goes on in a stream of its own", async () => {
    const { place, id, holder, holders, print, takeOver } = await startTakeovers()
    await print("before\n")
    const { run, fence } = (await holder().runtime.tasks.get(id)).task
    const event = { type: "task.released", reason: "shutdown" } as const
    await place.meanwhile.engine.store.commit([{ op: "task.apply", run: { taskId: id, run, fence }, event }])
    await takeOver()
    holders[0]?.call.context.output.write("late\n")
    await print("after\n")
    holder().call.finish()
    await holder().runtime.tasks.result(id, { waitMs: 30_000 })
    expect((await readTexts(holder().runtime, id)).map(({ text }) => text)).toEqual(["before\n", "after\n"])
  })

  test("a follower is told where the run was begun anew, and a text that is waited for is of the newest execution", async () => {
    const { reader, id, holder, print, takeOver } = await startTakeovers()
    await print("ready on port 1\nread")
    const chunks: OutputChunk[] = []
    const seen = Promise.withResolvers<void>()
    const following = (async () => {
      for await (const chunk of reader.desk({ workspace: "default", actor: "test" }).tasks.followOutput(id, {})) {
        chunks.push(chunk)
        seen.resolve()
      }
    })()
    await seen.promise
    await takeOver()
    const waiting = reader.tasks.waitForOutput(id, { pattern: /ready/, timeoutMs: 30_000 })
    await print("y\nready on port 2\n")
    expect(await waiting).toMatchObject({ outcome: "matched", line: "ready on port 2", offset: 22 })
    holder().call.finish()
    await following
    const textOf = (restart: number | null) =>
      chunks.flatMap(({ text, restartedAt }) => (restartedAt === restart ? [text] : [])).join("")
    expect([textOf(null), textOf(20)]).toEqual(["ready on port 1\nread", "y\nready on port 2\n"])
    expect(chunks.at(-1)).toMatchObject({ nextOffset: 38, isComplete: true })
  })

  test(
    "whatever is printed by whom, and however often the run is taken over",
    async () => {
      const step = fc.record({
        prints: fc.array(fc.string({ unit: fc.constantFrom("a", "b", "\n", " "), minLength: 1, maxLength: 40 }), {
          maxLength: 3,
        }),
        late: fc.constantFrom("nothing", "unaware", "aware"),
        where: fc.constantFrom("everywhere" as const, "here" as const),
      })
      const property = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 4 }), async (steps) => {
        const { reader, id, holder, holders, print, takeOver } = await startTakeovers()
        const executions: string[] = []
        for (const [index, { prints, late, where }] of steps.entries()) {
          if (index > 0) await takeOver()
          for (const { call, clock, runtime } of late === "nothing" ? [] : holders.slice(0, -1)) {
            if (late === "aware") clock.advance(LEASE_MS)
            call.context.output.write("late\n")
            // Now that its clock has moved, it could take the run back from the holder, whose clock stands still.
            if (late === "aware") await runtime.close()
          }
          for (const text of prints) await print(text, where)
          executions.push(prints.join(""))
        }
        holder().call.finish()
        await reader.tasks.result(id, { waitMs: 30_000 })
        expect((await reader.tasks.output(id)).text).toBe(executions.join(""))
        const begins = executions.map((_, index) => executions.slice(0, index).join("").length)
        for (const { text, offset, restartedAt } of await readTexts(reader, id, 7)) {
          expect(text).toBe(executions.join("").slice(offset, offset + text.length))
          expect(restartedAt).toBe(begins.findLast((begin) => begin > 0 && begin <= offset) ?? null)
        }
        for (const { runtime } of holders) await runtime.close()
      })
      await assertProperty(property, { numRuns: ROUNDS })
    },
    ROUNDS * 30_000,
  )
})
