import { describe, expect, test } from "vitest"
import { toErrorMessage } from "../../src/base/error.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { textOf } from "../../src/plugin/message.ts"
import { createGate } from "../support/session/gate.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"

describe.each(PLACES)("messages sent during a turn, %s", (_, isKept) => {
  test("wait their turn, in the order in which they were sent", async () => {
    const gate = createGate()
    const { session, model } = await openAgent([() => ({ gate: gate.pass(), text: "one" }), "two", "three"], { isKept })
    const sent = [session.send("a"), session.send("b"), session.send("c")]
    await gate.reached
    expect([session.isBusy, model.callCount]).toEqual([true, 1])
    gate.open()
    expect((await Promise.all(sent)).map(({ text }) => text)).toEqual(["one", "two", "three"])
    expect(session.history().map(textOf)).toEqual(["a", "one", "b", "two", "c", "three"])
    expect(session.isBusy).toBe(false)
  })

  test("have their turn although the one before them failed, was stopped, or they were withdrawn", async () => {
    const gate = createGate()
    const script = [{ error: { code: "model_refused" } } as const, () => ({ gate: gate.pass() }), "done"]
    const { session } = await openAgent(script, { isKept })
    const withdrawn = new AbortController()
    const sent = Promise.allSettled([
      session.send("fails"),
      session.send("is stopped"),
      session.send("is withdrawn", { signal: withdrawn.signal }),
      session.send("works"),
    ])
    withdrawn.abort(new Error("never mind"))
    await gate.reached
    session.stop()
    const outcomes = (await sent).map((one) =>
      one.status === "fulfilled" ? one.value.outcome : toErrorMessage(one.reason),
    )
    expect(outcomes).toEqual([expect.stringContaining("model_refused"), "stopped", "never mind", "completed"])
    expect(session.history().map(textOf)).not.toContain("is withdrawn")
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("and a reset or a command find the turn whole", async () => {
    const gate = createGate()
    const { session } = await openAgent([() => ({ gate: gate.pass(), text: "one" }), "two"], { isKept })
    const sent = session.send("a")
    const reset = session.reset()
    await gate.reached
    gate.open()
    expect((await sent).text).toBe("one")
    await reset
    expect(session.history()).toEqual([])
    await session.send("b")
    expect(session.history().map(textOf)).toEqual(["b", "two"])
  })
})

test.each(PLACES)("a closed session takes no message and no change, and says so (%s)", async (_, isKept) => {
  const { session, runtime } = await openAgent(["one", "two"], { isKept })
  await session.send("a")
  await session.close()
  await session.close()
  await expect(session.send("b")).rejects.toMatchObject({ code: "closed" })
  await expect(session.reset()).rejects.toMatchObject({ code: "closed" })
  expect(session.history().map(textOf)).toEqual(["a", "one"])
  if (!isKept) return
  const again = await runtime.openSession(session.id)
  expect((await again.send("b")).text).toBe("two")
})

describe("two runtimes on one store", () => {
  async function openTwo() {
    const gate = createGate()
    const here = await openAgent([() => ({ gate: gate.pass(), text: "one" }), "three"], { isKept: true })
    const model = createScriptedModel(["two"])
    const there = await openScripted(model, { isKept: true, folder: here.folder })
    return { ...here, gate, there: there.runtime }
  }

  test("what was said elsewhere is recalled also by whoever looked at the session before", async () => {
    const { session, gate, there } = await openTwo()
    const sent = session.send("a")
    await gate.reached
    const other = await there.openSession(session.id)
    await expect(other.send("b", { whenBusy: "refuse" })).rejects.toMatchObject({ code: "session_busy" })
    gate.open()
    await sent
    expect(await other.recall({ count: 1 })).toEqual([{ by: "agent", text: "one" }])
  })

  test("nothing is written into a conversation while its turn runs elsewhere", async () => {
    const { session, gate, there } = await openTwo()
    const sent = session.send("a")
    await gate.reached
    const other = await there.openSession(session.id)
    await expect(other.reset()).rejects.toMatchObject({ code: "session_busy" })
    gate.open()
    expect((await sent).text).toBe("one")
    await other.reset()
    expect((await there.sessions.load(session.id))?.messages).toEqual([])
  })
})
