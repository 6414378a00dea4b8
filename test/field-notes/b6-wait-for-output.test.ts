import { describe, expect, test } from "vitest"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

describe("B6. Wait until a pattern appears, or the task ends, or time is up (`ready on port …`), without tokens spent", () => {
  async function startGated() {
    const gated = createGatedTool()
    const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "gated", input: {}, lifetime: "forever" })
    const call = await gated.call(1)
    return { tasks, id, call, gated }
  }
  const ready = /ready on port (\d+)/

  test("a pattern that appears while somebody waits, also in parts", async () => {
    const { tasks, id, call } = await startGated()
    const waiting = tasks.waitForOutput(id, { pattern: ready, timeoutMs: 30_000 })
    call.context.output.write("starting\nready on ")
    call.context.output.write("port 3000\nserving\n")
    expect(await waiting).toEqual({ outcome: "matched", line: "ready on port 3000", offset: 9, nextOffset: 28 })
    call.finish()
    expect((await tasks.result(id, { waitMs: 30_000 })).task.usage).toEqual({ tokens: 0, costMicros: 0 })
  })

  test("a pattern that was printed before, unless the wait begins after it", async () => {
    const { tasks, id, call } = await startGated()
    call.context.output.write("ready on port 3000\n")
    const first = await tasks.waitForOutput(id, { pattern: ready, timeoutMs: 30_000 })
    expect(first).toMatchObject({ outcome: "matched", offset: 0 })
    const second = tasks.waitForOutput(id, { pattern: ready, timeoutMs: 30_000, offset: first.nextOffset })
    call.context.output.write("ready on port 3001\n")
    expect(await second).toMatchObject({ outcome: "matched", line: "ready on port 3001" })
    call.finish()
  })

  test("the task ends first; what it printed last still counts", async () => {
    const { tasks, id, call } = await startGated()
    const inVain = tasks.waitForOutput(id, { pattern: /never/, timeoutMs: 30_000 })
    const atLast = tasks.waitForOutput(id, { pattern: /last words/, timeoutMs: 30_000 })
    call.context.output.write("last words")
    call.finish()
    expect(await inVain).toMatchObject({ outcome: "ended", nextOffset: expect.any(Number) as number })
    expect(await atLast).toMatchObject({ outcome: "matched", line: "last words" })
    expect(await tasks.waitForOutput(id, { pattern: /never/, timeoutMs: 30_000 })).toMatchObject({ outcome: "ended" })
  })

  test("time is up, or nobody waits any more; the task goes on", async () => {
    const { tasks, id, call } = await startGated()
    expect(await tasks.waitForOutput(id, { pattern: /never/, timeoutMs: 20 })).toMatchObject({ outcome: "timed_out" })
    const abort = new AbortController()
    const waiting = tasks.waitForOutput(id, { pattern: /never/, timeoutMs: 60_000, signal: abort.signal })
    abort.abort()
    expect(await waiting).toMatchObject({ outcome: "aborted" })
    expect((await tasks.get(id)).task.status).toBe("running")
    call.finish()
    await tasks.result(id, { waitMs: 30_000 })
  })

  test("a prompt that gets no newline", async () => {
    const { tasks, id, call } = await startGated()
    call.context.output.write("continue? [y/N] ")
    const answer = await tasks.waitForOutput(id, { pattern: /\[y\/N\]/, timeoutMs: 30_000 })
    expect(answer).toMatchObject({ outcome: "matched", offset: 0 })
    call.finish()
  })

  test("a server that another process runs", async () => {
    const { meanwhile, another } = await createWorkplace()
    const { id } = await meanwhile.tasks.start({
      tool: "run_command",
      input: { command: "echo ready on port 8080; exec sleep 300" },
      lifetime: "runtime",
    })
    const other = await another()
    expect(await other.tasks.waitForOutput(id, { pattern: ready, timeoutMs: 30_000 })).toMatchObject({
      outcome: "matched",
      line: "ready on port 8080",
    })
    await meanwhile.tasks.cancel(id)
    await meanwhile.tasks.result(id, { waitMs: 30_000 })
  })
})
