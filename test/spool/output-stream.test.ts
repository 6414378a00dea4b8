import { expect, onTestFinished, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { MeanwhileError } from "../../src/base/error.ts"
import { createRedactor } from "../../src/runner/redaction/redactor.ts"
import { createOutputStream } from "../../src/runner/spool/output-stream.ts"
import { eventually } from "../support/eventually.ts"
import { createMemoryOutputs } from "../support/memory-outputs.ts"
import { createTestSpool, type SpoolTestOptions } from "../support/spool.ts"

const KEY = `sk-${"a1b2c3d4".repeat(4)}`
const LOOK_EVERY_MS = 250

/** A run that prints, the store that its output is sent to, and a clock that the test moves. */
function openStream({ fence = 1, ...options }: SpoolTestOptions & { fence?: number } = {}) {
  const place = createTestSpool(options)
  const outputs = createMemoryOutputs()
  const clock = createManualClock()
  const failures: unknown[] = []
  let scheduled = 0
  const open = () => {
    const stream = createOutputStream({
      outputs,
      run: { taskId: place.taskId, run: 1, fence },
      isFirst: fence === 1,
      spool: place.run,
      redactor: createRedactor({ environment: options.environment ?? {} }),
      clock: {
        ...clock,
        schedule(...call) {
          scheduled += 1
          return clock.schedule(...call)
        },
      },
      onFailure: (error) => failures.push(error),
    })
    onTestFinished(() => stream.stop())
    return stream
  }
  place.run.keep()
  /** Lets the time of one look of the stream pass. */
  async function pass(): Promise<void> {
    const before = scheduled
    clock.advance(LOOK_EVERY_MS)
    await eventually("it has looked", () => scheduled > before)
  }
  return { ...place, outputs, failures, open, pass, print: (text: string) => place.run.write(text) }
}

test("output that is printed between two looks is sent together, and nothing is sent while nothing is printed", async () => {
  const { open, outputs, print, pass } = openStream()
  open()
  await pass()
  print("one\n")
  print("two\n")
  await pass()
  await pass()
  await pass()
  expect(outputs.parts).toHaveLength(1)
  print("three\n")
  await pass()
  expect(outputs.parts).toMatchObject([
    { start: 0, keepFrom: 0 },
    { start: 8, keepFrom: 0 },
  ])
  expect(outputs.text()).toBe("one\ntwo\nthree\n")
})

test("a line without its end is sent once nothing is added to it", async () => {
  const { open, outputs, print, pass } = openStream()
  open()
  print("begun\nContinue? [y/n] ")
  await pass()
  expect(outputs.text()).toBe("begun\n")
  await pass()
  expect(outputs.text()).toBe("begun\nContinue? [y/n] ")
})

test("no secret leaves, wherever the pieces are cut", async () => {
  const { open, outputs, print, pass } = openStream({ environment: { DEPLOY_TOKEN: "first line\nsecond line" } })
  const stream = open()
  for (const half of [KEY.slice(0, 9), KEY.slice(9)]) {
    print(half)
    await pass()
    await pass()
  }
  print("\nfirst line\n")
  await pass()
  print("second line\n")
  await pass()
  print(`${"x".repeat(20_000)} ${KEY} `)
  await pass()
  await stream.finish()
  expect(outputs.parts.length).toBeGreaterThan(3)
  expect(outputs.text()).toBe(
    `${"*".repeat(KEY.length)}\n${"*".repeat(22)}\n${"x".repeat(20_000)} ${"*".repeat(KEY.length)} `,
  )
})

test("all output is stored when the stream has finished, however much it is", async () => {
  const { open, outputs, print } = openStream()
  const stream = open()
  const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index}\n`).join("")
  print(lines)
  expect(stream.isFinished).toBe(false)
  await stream.finish()
  expect(stream.isFinished).toBe(true)
  expect(outputs.text()).toBe(lines)
  expect(Math.max(...outputs.parts.map(({ bytes }) => bytes.byteLength))).toBe(1_024 * 1_024)
})

test("the store drops what the cap drops, and what the cap dropped before a look is never sent", async () => {
  const { open, outputs, print, pass, run, taskId } = openStream({ outputLimitBytes: 4_096 })
  const stream = open()
  print("the beginning\n")
  await pass()
  for (let index = 0; index < 20; index++) {
    print(`${String(index).padStart(1_023, "-")}\n`)
    await run.flush()
  }
  const here = await eventually("the cap has cut, and has no more to cut", async () => {
    const { droppedBefore, totalBytes } = await run.read()
    return typeof droppedBefore === "number" && totalBytes - droppedBefore <= 4_096 && { droppedBefore }
  })
  await stream.finish()
  const { firstOffset = 0, totalBytes = 0 } = (await outputs.extent(taskId, 1)) ?? {}
  expect({ firstOffset, totalBytes }).toEqual({ firstOffset: here.droppedBefore, totalBytes: 14 + 20 * 1_024 })
  expect(outputs.text()).toBe((await run.read({}, { isComplete: true })).text)
})

test("a run that is claimed again goes on where the store has got to", async () => {
  const { open, outputs, print, pass, taskId } = openStream({ fence: 2 })
  const bytes = Buffer.from("one\n")
  await outputs.append({ run: { taskId, run: 1, fence: 1 }, start: 0, bytes, keepFrom: 0 })
  print("one\ntwo\n")
  open()
  await pass()
  expect(outputs.parts.at(-1)?.start).toBe(4)
  expect(outputs.text()).toBe("one\ntwo\n")
})

test("while the store is away the stream goes on trying, and loses nothing", async () => {
  const { open, outputs, print, pass, failures } = openStream()
  const stream = open()
  const away = new MeanwhileError("store_unavailable", "It is away.")
  outputs.refuseWith(away)
  print("one\n")
  await pass()
  await expect(stream.finish()).rejects.toBe(away)
  expect(failures).toEqual([away])
  outputs.refuseWith(null)
  print("two\n")
  await stream.finish()
  expect(outputs.text()).toBe("one\ntwo\n")
})

test("a piece that was stored although its answer was lost is there once", async () => {
  const { open, outputs, print, pass } = openStream()
  const stream = open()
  const { append } = outputs
  outputs.append = async (part) => {
    await append(part)
    outputs.append = append
    throw new MeanwhileError("store_unavailable", "It went away.")
  }
  print("one\n")
  await pass()
  print("two\n")
  await stream.finish()
  expect(outputs.text()).toBe("one\ntwo\n")
  expect(outputs.parts).toMatchObject([{ start: 0 }, { start: 4 }])
})

test("whoever has lost the run hands on nothing more, and does not say that it has", async () => {
  const { open, outputs, print } = openStream()
  const stream = open()
  outputs.refuseWith("stale")
  print("one\n")
  await stream.finish()
  outputs.refuseWith(null)
  await stream.finish()
  expect(outputs.parts).toEqual([])
  expect(stream.isFinished).toBe(false)
})
