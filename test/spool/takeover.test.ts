import { readdirSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { systemClock } from "../../src/base/clock.ts"
import { thisProcessIdentity } from "../../src/runner/process/identity.ts"
import { createRedactor } from "../../src/runner/redaction/redactor.ts"
import type { RunSpool } from "../../src/runner/spool/run-spool.ts"
import { createSpool, type Spool } from "../../src/runner/spool/spool.ts"
import type { TaskId } from "../../src/task/id.ts"
import { assertProperty } from "../support/assert-property.ts"
import { isLong } from "../support/chaos/seed.ts"
import { createTestSpool, NEVER_STOPPED, toShell } from "../support/spool.ts"

const ANEW = { storedBytes: undefined, isRestart: true } as const

/** The output of the holders of a run while each of them had it, and where each execution began. */
interface Oracle {
  readonly printed: Buffer
  readonly restarts: readonly number[]
}

/** Reads from offset to offset, as any reader may, and checks every text. Returns the bytes that were no longer there. */
async function readThrough(spool: Spool, taskId: TaskId, { printed, restarts }: Oracle, limitBytes: number) {
  let dropped = 0
  for (let offset = 0; ; ) {
    const chunk = await spool.read(taskId, 1, { offset, limitBytes, encoding: "latin1" }, { isComplete: true })
    if (chunk.offset > offset) {
      expect(chunk.droppedBefore).toBe(chunk.offset)
      dropped += chunk.offset - offset
    }
    expect(chunk.text).toBe(printed.toString("latin1", chunk.offset, chunk.nextOffset))
    expect(chunk.restartedAt).toBe(restarts.findLast((restart) => restart <= chunk.offset) ?? null)
    offset = chunk.nextOffset
    if (!chunk.isComplete) continue
    expect(offset).toBe(printed.byteLength)
    return dropped
  }
}

/** A process that has no part in the run. */
const openReader = (directory: string): Spool =>
  createSpool({
    directory,
    clock: systemClock,
    redactor: createRedactor({ environment: {} }),
    owner: thisProcessIdentity(),
  })

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant("print" as const), bytes: fc.integer({ min: 0, max: 900 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("print late" as const), bytes: fc.integer({ min: 1, max: 900 }) }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("take over" as const), isRestart: fc.boolean() }) },
)

test("after any takeovers every byte is read once, and a reader is told where the run was begun anew", async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 3, maxLength: 14 }),
    fc.integer({ min: 4, max: 2_000 }),
    async (steps, limitBytes) => {
      const place = createTestSpool({ outputLimitBytes: 1_600 })
      const reader = openReader(place.directory)
      const holders: RunSpool[] = [place.run]
      const oracle = { printed: Buffer.alloc(0), restarts: [] as number[] }
      place.run.keep()
      for (const [index, { does, ...how }] of steps.entries()) {
        const holder = holders.at(-1) ?? place.run
        const text = Buffer.alloc("bytes" in how ? how.bytes : 0, `${index}:`)
        if (does === "print") {
          holder.write(text)
          oracle.printed = Buffer.concat([oracle.printed, text])
          await holder.flush()
        } else if (does === "print late") {
          for (const former of holders.slice(0, -1)) {
            former.write(text)
            await former.flush()
          }
        } else {
          const isRestart = "isRestart" in how && how.isRestart
          const { run } = place.reopen()
          await run.beginStream(holders.length + 1, { ...ANEW, isRestart })
          if (isRestart && oracle.printed.byteLength > (oracle.restarts.at(-1) ?? 0)) {
            oracle.restarts.push(oracle.printed.byteLength)
          }
          holders.push(run)
        }
        const dropped = await readThrough(reader, place.taskId, oracle, limitBytes)
        expect(oracle.printed.byteLength - dropped).toBeLessThanOrEqual(1_600)
        if (oracle.printed.byteLength <= 1_600) expect(dropped).toBe(0)
      }
    },
  )
  await assertProperty(property, { numRuns: isLong ? 2_000 : 40 })
})

test("a claim of the past that wakes later begins no stream any more", async () => {
  const { run, reopen, taskId, spool } = createTestSpool()
  run.keep()
  run.write("first\n")
  await run.flush()
  const [second, third] = [reopen().run, reopen().run]
  await third.beginStream(3, ANEW)
  third.write("third\n")
  await third.flush()
  await expect(second.beginStream(2, ANEW)).rejects.toMatchObject({ code: "stale_claim" })
  await run.close()
  expect((await spool.read(taskId, 1, {}, { isComplete: true })).text).toBe("first\nthird\n")
})

test("files of an earlier stream go when the next one begins, also those that a crash had left", async () => {
  const { run, reopen, taskId, directory } = createTestSpool({ outputLimitBytes: 1_000 })
  run.keep()
  run.write("x".repeat(3_000))
  await run.flush()
  await reopen().run.beginStream(2, ANEW)
  run.write("late")
  await run.flush()
  await reopen().run.beginStream(3, ANEW)
  expect(readdirSync(join(directory, taskId, "1")).toSorted()).toEqual(["3-base", "3-segment-3000", "owner"])
})

test("a command of a run that was begun anew prints into the new stream", async () => {
  const { run, reopen, taskId } = createTestSpool()
  run.keep()
  run.write("before\n")
  await run.flush()
  const again = reopen()
  again.run.beginAnew()
  await again.run.beginStream(2, ANEW)
  await again.run.runProcess(toShell("echo from a command"), NEVER_STOPPED)
  expect(await again.run.read({})).toMatchObject({ text: "from a command\n", offset: 7, restartedAt: 7 })
  expect((await reopen().spool.read(taskId, 1, {}, { isComplete: true })).text).toBe("before\nfrom a command\n")
})

test("a text that is waited for counts only if the newest execution has printed it", async () => {
  const { run, reopen, spool, taskId } = createTestSpool()
  run.keep()
  run.write("ready on port 1\nread")
  await run.flush()
  const again = reopen().run
  await again.beginStream(2, ANEW)
  await run.close()
  const wait = { pattern: /ready/, timeoutMs: 0 }
  expect(await spool.waitFor(taskId, 1, wait, Promise.resolve())).toMatchObject({ outcome: "timed_out" })
  again.write("y\nready on port 2\n")
  await again.flush()
  expect(await spool.waitFor(taskId, 1, wait, Promise.resolve())).toMatchObject({ line: "ready on port 2", offset: 22 })
})
