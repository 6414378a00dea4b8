import { describe, expect, test } from "vitest"
import { systemClock } from "../../src/base/clock.ts"
import { createTestSpool, NEVER_STOPPED, toShell } from "../support/spool.ts"

describe("B6. Wait until a pattern appears, or the task ends, or time is up", () => {
  const never = new Promise<void>(() => undefined)

  test("a line of a server that gets ready, while it runs on", async () => {
    const { run, spool, taskId } = createTestSpool()
    const abort = new AbortController()
    const control = { ...NEVER_STOPPED, signal: abort.signal }
    const ended = run.runProcess(toShell("echo starting; sleep 0.1; echo ready on port 4711; sleep 60"), control)
    const answer = await spool.waitFor(taskId, 1, { pattern: /ready on port (\d+)/g, timeoutMs: 30_000 }, never)
    expect(answer).toEqual({ outcome: "matched", line: "ready on port 4711", offset: 9, nextOffset: 28 })
    abort.abort()
    await ended
  })

  test("what was printed before the call counts, unless an offset says otherwise", async () => {
    const { run, spool, taskId } = createTestSpool()
    run.write("one\r\ntwo\none again\n")
    const find = (offset: number) => spool.waitFor(taskId, 1, { pattern: /one/, offset, timeoutMs: 30_000 }, never)
    expect(await find(0)).toMatchObject({ outcome: "matched", line: "one", nextOffset: 5 })
    expect(await find(5)).toMatchObject({ outcome: "matched", line: "one again", offset: 9 })
  })

  test("the end of the run, with what it printed last", async () => {
    const { run, spool, taskId } = createTestSpool()
    const ended = run.runProcess(toShell("sleep 0.05; printf 'no newline'"), NEVER_STOPPED).then(() => undefined)
    const [missed, found] = await Promise.all([
      spool.waitFor(taskId, 1, { pattern: /absent/, timeoutMs: 30_000 }, ended),
      spool.waitFor(taskId, 1, { pattern: /newline/, timeoutMs: 30_000 }, ended),
    ])
    expect(missed.outcome).toBe("ended")
    expect(found).toMatchObject({ outcome: "matched", line: "no newline" })
  })

  test("time, and a signal", async () => {
    const { spool, taskId } = createTestSpool()
    const abort = new AbortController()
    expect(await spool.waitFor(taskId, 1, { pattern: /x/, timeoutMs: 0 }, never)).toEqual({
      outcome: "timed_out",
      nextOffset: 0,
    })
    const waiting = spool.waitFor(taskId, 1, { pattern: /x/, timeoutMs: 60_000, signal: abort.signal }, never)
    abort.abort()
    expect((await waiting).outcome).toBe("aborted")
    const over = new AbortController()
    const watching = spool.waitFor(taskId, 1, { pattern: /x/, timeoutMs: 60_000 }, over.signal)
    over.abort()
    expect((await watching).outcome).toBe("ended")
  })

  test("a prompt without a newline, once it is quiet", async () => {
    const { run, spool, taskId } = createTestSpool()
    run.write("Continue? [y/n] ")
    const answer = await spool.waitFor(taskId, 1, { pattern: /\[y\/n\]/, timeoutMs: 30_000 }, never)
    expect(answer).toMatchObject({ outcome: "matched", line: "Continue? [y/n] " })
  })

  test("in a line that is longer than any memory given to it, also where two windows meet", async () => {
    const { run, spool, taskId } = createTestSpool()
    run.write("x".repeat(64 * 1_024 - 3))
    run.write(`needle${"y".repeat(300_000)}`)
    const startedAt = systemClock.monotonic()
    const answer = await spool.waitFor(taskId, 1, { pattern: /needle/, timeoutMs: 30_000 }, Promise.resolve())
    expect(answer.outcome).toBe("matched")
    expect(systemClock.monotonic() - startedAt).toBeLessThan(5_000)
  })

  test("never by what a secret looks like", async () => {
    const { run, spool, taskId } = createTestSpool({ environment: { MY_TOKEN: "abcdefgh12345" } })
    run.write("value abcdefgh12345\n")
    const find = (pattern: RegExp) => spool.waitFor(taskId, 1, { pattern, timeoutMs: 30_000 }, Promise.resolve())
    expect((await find(/abcdef/)).outcome).toBe("ended")
    expect(await find(/value/)).toMatchObject({ line: "value *************" })
  })
})
