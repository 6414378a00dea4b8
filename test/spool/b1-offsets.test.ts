import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { assertProperty } from "../support/assert-property.ts"
import { createTestSpool, NEVER_STOPPED, readAll, toShell } from "../support/spool.ts"

describe("B1. Offsets are absolute; a reader never loses or repeats a byte without being told", () => {
  const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { maxLength: 40 })

  /** Follows the output from its first byte to its last, and checks every byte against what was written. */
  async function follow(
    run: ReturnType<typeof createTestSpool>["run"],
    written: Buffer,
    limitBytes: number,
    encoding: "utf8" | "latin1",
  ) {
    let offset = 0
    for (;;) {
      const chunk = await run.read({ offset, limitBytes, encoding }, { isComplete: true })
      if (chunk.droppedBefore === null) expect(chunk.offset).toBe(offset)
      else expect(chunk.offset).toBe(chunk.droppedBefore)
      expect(chunk.text).toBe(written.toString(encoding, chunk.offset, chunk.nextOffset))
      expect(chunk.totalBytes).toBe(written.byteLength)
      offset = chunk.nextOffset
      if (chunk.isComplete) return
    }
  }

  test("whatever is written, in memory or on disk, below the cap or far above it", async () => {
    await assertProperty(
      fc.asyncProperty(
        pieces,
        fc.nat(40),
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom(64, 300, 10_000),
        async (chunks, keepAt, limitBytes, outputLimitBytes) => {
          const { run } = createTestSpool({ outputLimitBytes })
          for (const [index, chunk] of chunks.entries()) {
            if (index === keepAt) run.keep()
            run.write(chunk)
            if (index % 7 === 0) await run.flush()
          }
          await run.flush()
          await follow(run, Buffer.concat(chunks), limitBytes, "utf8")
          await follow(run, Buffer.concat(chunks), limitBytes, "latin1")
          await run.discard()
        },
      ),
      { numRuns: 60 },
    )
  })

  test("bytes are not looked through for lines", async () => {
    const { run } = createTestSpool()
    run.write("x")
    const refused = { code: "invalid_input", message: expect.stringContaining("`filter` is for text") }
    await expect(run.read({ encoding: "latin1", filter: "x" })).rejects.toMatchObject(refused)
  })

  test("a reader that asks for bytes that the cap has dropped is told so, and another one is not", async () => {
    const { run } = createTestSpool({ outputLimitBytes: 100 })
    run.write("x".repeat(250))
    expect(await run.read({ offset: 0 })).toMatchObject({ offset: 150, nextOffset: 250, droppedBefore: 150 })
    expect(await run.read({ offset: 200 })).toMatchObject({ offset: 200, nextOffset: 250, droppedBefore: null })
    expect(await run.read({ tailBytes: 10 })).toMatchObject({ offset: 240, text: "x".repeat(10), droppedBefore: null })
    expect(await run.read({ tailBytes: 200 })).toMatchObject({ offset: 150, droppedBefore: 150 })
    expect(await run.read({ offset: 999 })).toMatchObject({ text: "", offset: 999, nextOffset: 999 })
  })

  test("what a tool and its processes print is one sequence in the order it happened", async () => {
    const { run } = createTestSpool()
    run.write("before\n")
    await run.runProcess(toShell("echo first"), NEVER_STOPPED)
    run.write("between\n")
    await run.runProcess(toShell("echo second >&2"), NEVER_STOPPED)
    run.write("after\n")
    expect(await readAll(run, { limitBytes: 4 })).toBe("before\nfirst\nbetween\nsecond\nafter\n")
  })

  test.each([{ offset: -1 }, { limitBytes: 1.5 }, { tailBytes: Number.NaN }])("%o is refused", async (request) => {
    const { run } = createTestSpool()
    await expect(run.read(request)).rejects.toMatchObject({ code: "invalid_input" })
  })
})

describe("B4. Two readers with their own cursors; reading while it is written; reading after completion", () => {
  test("a slow and a fast reader get the same bytes while a process writes", async () => {
    const { run, spool, taskId, reopen } = createTestSpool()
    const other = reopen()
    const count = 3_000
    let isComplete = false
    const ended = run
      .runProcess(toShell(`i=0; while [ $i -lt ${count} ]; do echo "line $i äöü"; i=$((i+1)); done`), NEVER_STOPPED)
      .then(() => {
        isComplete = true
      })

    async function follow(read: typeof spool.read, limitBytes: number): Promise<string> {
      let text = ""
      for (let offset = 0; ; ) {
        const state = { isComplete }
        const chunk = await read(taskId, 1, { offset, limitBytes }, state)
        expect(chunk.offset).toBe(offset)
        text += chunk.text
        offset = chunk.nextOffset
        if (chunk.isComplete) return text
        if (chunk.text === "") await new Promise((resolve) => setImmediate(resolve))
      }
    }

    const [slow, fast] = await Promise.all([follow(spool.read, 1_021), follow(other.spool.read, 65_536)])
    await ended
    const expected = Array.from({ length: count }, (_, index) => `line ${index} äöü\n`).join("")
    expect(slow).toBe(expected)
    expect(fast).toBe(expected)
    expect(await readAll(run)).toBe(expected)
  })

  test("only lines that match are returned, across chunk borders", async () => {
    const { run } = createTestSpool()
    run.write(Array.from({ length: 5_000 }, (_, index) => `number ${index}\n`).join(""))
    const filter = /7\d\d$/g
    const lines = (await readAll(run, { filter, limitBytes: 64 })).trimEnd().split("\n")
    expect(lines).toHaveLength(500)
    expect(lines.every((line) => /7\d\d$/.test(line))).toBe(true)
  })

  test("a last line without newline belongs to a filter's answer only once the run has ended", async () => {
    const { run } = createTestSpool()
    run.write("error one\nerror tw")
    expect(await run.read({ filter: /error/ })).toMatchObject({
      text: "error one\n",
      nextOffset: 10,
      isComplete: false,
    })
    expect(await run.read({ filter: /error/ }, { isComplete: true })).toMatchObject({ text: "error one\nerror tw" })
  })
})

describe("B5. Output of a tool that was promoted contains what it printed before promotion", () => {
  test("nothing is on disk before, everything after", async () => {
    const { run, directory, taskId, reopen } = createTestSpool()
    const { readdirSync, statSync } = await import("node:fs")
    run.write("early\n")
    expect(readdirSync(directory)).toEqual([])
    run.keep()
    run.write("late\n")
    await run.flush()
    expect(await readAll(reopen().run)).toBe("early\nlate\n")
    expect(statSync(`${directory}/${taskId}/1/output`).mode & 0o777).toBe(0o600)
    expect(statSync(`${directory}/${taskId}`).mode & 0o777).toBe(0o700)
  })

  test("a run that is kept and prints nothing leaves nothing", async () => {
    const { run, directory } = createTestSpool()
    const { readdirSync } = await import("node:fs")
    run.keep()
    await run.flush()
    expect(readdirSync(directory)).toEqual([])
  })
})
