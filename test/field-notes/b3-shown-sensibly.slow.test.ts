import { describe, expect, test } from "vitest"
import { createWorkplace } from "../support/workplace.ts"

/** The whole gigabyte in `npm run test:long`; otherwise enough to exceed the cap many times. */
const LINE_BYTES = process.env["MEANWHILE_TEST_LENGTH"] === "long" ? 1_000_000_000 : 100_000_000

describe("B3. A 1 GB line, binary, ANSI, carriage-return progress bars, a UTF-8 character cut by a chunk border: shown sensibly", () => {
  async function run(command: string, more: { readonly outputLimitBytes?: number } = {}) {
    const { meanwhile } = await createWorkplace()
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command }, ...more })
    const view = await tasks.result(id, { waitMs: 80_000 })
    expect(view.task.status).toBe("completed")
    return { tasks, id, view }
  }

  test("a line without an end to it", async () => {
    const before = process.memoryUsage().rss
    const { tasks, id, view } = await run(`head -c ${LINE_BYTES} /dev/zero | tr '\\0' x; printf 'the end of it'`, {
      outputLimitBytes: 8_000_000,
    })
    expect(view.outputBytes).toBe(LINE_BYTES + 13)
    expect(view.lastLine).toMatch(/^x*the end of it$/)
    expect((view.lastLine ?? "").length).toBeLessThan(2_000)
    expect((await tasks.output(id, { tailBytes: 13 })).text).toBe("the end of it")
    const matched = await tasks.waitForOutput(id, { pattern: /the end/, timeoutMs: 20_000 })
    expect(matched.outcome).toBe("matched")
    if (matched.outcome === "matched") expect(matched.line.length).toBeLessThan(200_000)
    const filtered = await tasks.output(id, { filter: /the end/ })
    expect(filtered.text.endsWith("the end of it")).toBe(true)
    expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000)
  })

  test("binary: every byte is counted, what is no text is shown as such", async () => {
    const { tasks, id } = await run("head -c 200000 /dev/urandom; printf '\\nafter the noise\\n'")
    let offset = 0
    let last = ""
    for (;;) {
      const chunk = await tasks.output(id, { offset, limitBytes: 10_000 })
      expect(chunk.offset).toBe(offset)
      expect(chunk.nextOffset).toBeGreaterThan(offset)
      offset = chunk.nextOffset
      last = chunk.text
      if (chunk.isComplete) break
    }
    expect(offset).toBe(200_000 + 17)
    expect(last.endsWith("\nafter the noise\n")).toBe(true)
    expect((await tasks.get(id)).lastLine).toBe("after the noise")
  })

  test("ANSI: the output keeps it, the one line for people does not", async () => {
    const { tasks, id, view } = await run("printf '\\033[1;31mred\\033[0m and \\033]0;title\\007plain\\033[K\\n'")
    expect((await tasks.output(id)).text).toBe("\u001b[1;31mred\u001b[0m and \u001b]0;title\u0007plain\u001b[K\n")
    expect(view.lastLine).toBe("red and plain")
  })

  test("carriage-return progress bars: the newest state is the line for people", async () => {
    const { tasks, id, view } = await run("for i in 10 50 100; do printf '\\rprogress %s%%' $i; done")
    expect(view.lastLine).toBe("progress 100%")
    expect((await tasks.output(id)).text).toBe("\rprogress 10%\rprogress 50%\rprogress 100%")
  })

  test("a UTF-8 character cut by a chunk border: every border", async () => {
    const text = "aä€😀"
    const { tasks, id } = await run(`printf '${text.repeat(20)}'`)
    const bytes = Buffer.byteLength(text) * 20
    for (let limitBytes = 1; limitBytes <= 12; limitBytes++) {
      let whole = ""
      for (let offset = 0; offset < bytes; ) {
        const chunk = await tasks.output(id, { offset, limitBytes })
        expect(chunk.text).not.toContain("\ufffd")
        whole += chunk.text
        offset = chunk.nextOffset
      }
      expect(whole).toBe(text.repeat(20))
    }
  })

  test("a UTF-8 character cut by the beginning of a tail", async () => {
    const { tasks, id } = await run(`printf '${"😀".repeat(400)}'`)
    for (let tailBytes = 5; tailBytes <= 8; tailBytes++) {
      expect((await tasks.output(id, { tailBytes })).text).toMatch(/^(?:😀)+$/u)
    }
    expect((await tasks.get(id)).lastLine).toMatch(/^(?:😀)+$/u)
  })

  test("a character that is printed in two parts is never shown in two parts", async () => {
    const { meanwhile } = await createWorkplace()
    const { tasks } = meanwhile
    const command = "printf 'half: \\303'; while [ ! -e go ]; do sleep 0.02; done; printf '\\244 whole\\n'"
    const { id } = await tasks.start({ tool: "run_command", input: { command } })
    await tasks.waitForOutput(id, { pattern: /half/, timeoutMs: 20_000 })
    const half = await tasks.output(id)
    expect(half).toMatchObject({ text: "half: ", nextOffset: 6, totalBytes: 7 })
    await tasks.start({ tool: "run_command", input: { command: "touch go" } })
    await tasks.result(id, { waitMs: 20_000 })
    expect((await tasks.output(id, { offset: half.nextOffset })).text).toBe("ä whole\n")
  })
})
