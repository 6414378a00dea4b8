import { mkdirSync, truncateSync, writeFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { toDisplayText } from "../../src/runner/spool/display-text.ts"
import { createTestSpool, readAll } from "../support/spool.ts"

describe("B3. A 1 GB line, binary, ANSI, carriage-return progress bars, a UTF-8 character cut by a chunk border: shown sensibly", () => {
  test("a 1 GB line is read in pieces, and its end is found", async () => {
    const { directory, taskId, reopen } = createTestSpool({ outputLimitBytes: 2 ** 32 })
    mkdirSync(`${directory}/${taskId}/1`, { recursive: true })
    writeFileSync(`${directory}/${taskId}/1/output`, "")
    truncateSync(`${directory}/${taskId}/1/output`, 2 ** 30)
    const { spool } = reopen()
    const before = process.memoryUsage().rss
    expect((await spool.read(taskId, 1, {}, { isComplete: true })).nextOffset).toBe(64 * 1_024)
    const tail = await spool.read(taskId, 1, { tailBytes: 5 }, { isComplete: true })
    expect(tail).toMatchObject({ text: "\0\0\0\0\0", isComplete: true, totalBytes: 2 ** 30 })
    const greedy = await spool.read(taskId, 1, { limitBytes: 2 ** 30 }, { isComplete: true })
    expect(greedy.nextOffset).toBeLessThanOrEqual(8 * 1_024 * 1_024)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1_024 * 1_024)
  })

  test("a character cut by a chunk border is left for the next read", async () => {
    const { run } = createTestSpool()
    run.write("aä€😀")
    const whole = Buffer.from("aä€😀")
    for (let limitBytes = 4; limitBytes < whole.byteLength; limitBytes++) {
      expect(await readAll(run, { limitBytes })).toBe("aä€😀")
    }
    run.write(Buffer.from("€").subarray(0, 2))
    expect((await run.read()).text).toBe("aä€😀")
    run.write(Buffer.from("€").subarray(2))
    expect((await run.read()).text).toBe("aä€😀€")
  })

  test("bytes that are no text show as U+FFFD, and so does a character that never came to its end", async () => {
    const { run } = createTestSpool()
    run.write(new Uint8Array([0x41, 0xff, 0xfe, 0x42, 0xe2, 0x82]))
    expect((await run.read()).text).toBe("A��B")
    expect((await run.read({}, { isComplete: true })).text).toBe("A��B�")
    const binary = Uint8Array.from({ length: 4_096 }, (_, index) => (index * 131) % 256)
    const { run: other } = createTestSpool()
    other.write(binary)
    expect((await readAll(other, { limitBytes: 7 })).length).toBeGreaterThan(0)
  })

  test.each([
    ["colours are left out", "\u001b[1;31mred\u001b[0m text", "red text"],
    ["a progress bar shows its last state", "10%\r50%\r100%\ndone", "100%\ndone"],
    ["a shorter state leaves what it did not overwrite", "100%\r9", "900%"],
    ["erasing a line", "downloading 10%\r\u001b[Kdone", "done"],
    ["backspaces", "abc\b\bX", "aXc"],
    ["titles and links", "\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "alink"],
    ["a sequence cut at the end", "text\u001b[3", "text"],
    ["line ends of another system", "one\r\ntwo\r\n", "one\ntwo\n"],
    ["a column that no screen has", "a\u001b[999999999Gb", `a${" ".repeat(9_999)}b`],
    ["other control characters", "a\u0000b\u0007c\td", "abc\td"],
    ["text without any of it", "plain\ntext ä", "plain\ntext ä"],
  ])("%s", (_, text, shown) => {
    expect(toDisplayText(text)).toBe(shown)
  })
})
