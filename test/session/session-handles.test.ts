import { describe, expect, test } from "vitest"
import { textOf } from "../../src/plugin/message.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, PLACES, typesOf } from "../support/session/open-agent.ts"
import { openSubagents } from "../support/session/open-subagents.ts"
import { startAgent } from "../support/session/start-agent.ts"
import { createGatedTool } from "../support/tools.ts"
import type { AgentEvent } from "../../src/plugin/agent-event.ts"
import { eventually } from "../support/eventually.ts"

describe.each(PLACES)("a session that is open several times, %s", (_, isKept) => {
  test("goes on for whoever opens it in the moment in which the last one closes it", async () => {
    const { session, runtime } = await openAgent(["one", "two"], { isKept })
    await session.send("a")
    const [again] = await Promise.all([runtime.openSession(session.id), session.close()])
    expect((await again.send("b")).text).toBe("two")
  })

  test("goes on for the others when one of them closes it, and that one takes and hears nothing more", async () => {
    const { session, runtime } = await openAgent(["one", "two"], { isKept })
    const other = await runtime.openSession(session.id)
    const heard: Record<"first" | "second", AgentEvent[]> = { first: [], second: [] }
    session.on((event) => heard.first.push(event))
    other.on((event) => heard.second.push(event))
    await session.send("a")
    expect(heard.first).toEqual(heard.second)
    const before = heard.first.length
    await session.close()
    for (const refused of [
      session.send("b"),
      session.start("b"),
      session.retry(),
      session.reset(),
      session.collect(),
      session.runCommand("anything"),
      session.useModel("offline/rules"),
    ]) {
      await expect(refused).rejects.toMatchObject({ code: "closed" })
    }
    expect(() => session.enableReports()).toThrow("closed")
    expect(session.stop()).toBe(false)
    expect((await other.send("b")).text).toBe("two")
    expect(heard.first).toHaveLength(before)
    expect(typesOf(heard.second)).not.toContain("agent.completed")
    expect(session.history().map(textOf)).toEqual(["a", "one", "b", "two"])
  })

  test("is closed with the last of them, told once, however often each is closed", async () => {
    const { session, runtime, events } = await openAgent(["one"], { isKept })
    const other = await runtime.openSession(session.id)
    const heard: AgentEvent[] = []
    other.on((event) => heard.push(event))
    await Promise.all([session.close(), session.close(), session.close()])
    expect(typesOf(events)).not.toContain("agent.completed")
    await other.close()
    await other.close()
    expect(typesOf(events).filter((type) => type === "agent.completed")).toHaveLength(1)
    expect(typesOf(heard)).toEqual(["agent.completed"])
    await expect(other.send("a")).rejects.toMatchObject({ code: "closed" })
  })

  test("is closed by one of them at once, although a turn of another runs", async () => {
    const gate = createGate()
    const { session, runtime } = await openAgent([() => ({ gate: gate.pass(), text: "one" })], { isKept })
    const other = await runtime.openSession(session.id)
    const turn = await session.start("a")
    await gate.reached
    await other.close()
    gate.open()
    expect((await turn.result).text).toBe("one")
  })

  test("hands a turn out that goes on when its own handle is closed first", async () => {
    const gate = createGate()
    const { session, runtime } = await openAgent([() => ({ gate: gate.pass(), text: "one" })], { isKept })
    const other = await runtime.openSession(session.id)
    const turn = await session.start("a")
    await session.close()
    gate.open()
    expect((await turn.result).text).toBe("one")
    await other.close()
  })

  test("stays open for whoever opens it while the last of the others closes it", async () => {
    const gate = createGate()
    const { session, runtime } = await openAgent([() => ({ gate: gate.pass(), text: "one" }), "two"], { isKept })
    const turn = await session.start("a")
    await gate.reached
    const closed = session.close()
    const other = await runtime.openSession(session.id)
    gate.open()
    await Promise.all([closed, turn.result])
    expect((await other.send("b")).text).toBe("two")
  })

  test("keeps its tasks of lifetime session until the last of them closes it", async () => {
    const gated = createGatedTool({ obeys: true })
    const { session, runtime } = await openAgent(["one"], { isKept, tools: [gated.tool] })
    await session.send("a")
    const other = await runtime.openSession(session.id)
    const { id } = await runtime.tasks.start({ tool: "gated", input: {}, session: session.id, lifetime: "session" })
    await gated.call(1)
    await session.close()
    expect((await runtime.tasks.get(id)).task.status).toBe("running")
    await other.close()
    expect((await runtime.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("cancelled")
  })

  test("can be opened again once it was closed, if it is kept", async () => {
    const { session, runtime } = await openAgent(["one", "two"], { isKept })
    await session.send("a")
    await session.close()
    const again = runtime.openSession(session.id)
    if (!isKept) return expect(again).rejects.toMatchObject({ code: "not_found" })
    expect((await (await again).send("b")).text).toBe("two")
  })
})

test("somebody who looks at an agent neither ends it by closing, nor loses it when it ends", async () => {
  const gate = createGate()
  const opened = await openSubagents({ main: ["Good."], below: [() => ({ gate: gate.pass(), text: "Dug." })] })
  const { runtime } = opened
  const created: AgentEvent[] = []
  runtime.on((event) => created.push(event))
  const { id } = await startAgent(opened)
  const child = await eventually("it is made", () => created.find(({ type }) => type === "agent.created"))
  await gate.reached
  const [glance, look] = [await runtime.openSession(child.agent), await runtime.openSession(child.agent)]
  await glance.close()
  gate.open()
  expect((await runtime.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect(look.history().map(textOf).at(-1)).toBe("Dug.")
  await look.close()
})

test.each(PLACES)("a runtime that was closed creates and opens no session, and says closed (%s)", async (_, isKept) => {
  const { session, runtime } = await openAgent(["one"], { isKept })
  await session.send("a")
  const closing = runtime.close()
  await expect(runtime.createSession()).rejects.toMatchObject({ code: "closed" })
  await expect(runtime.openSession(session.id)).rejects.toMatchObject({ code: "closed" })
  await closing
  await expect(runtime.createSession()).rejects.toMatchObject({ code: "closed" })
  await expect(runtime.openSession(session.id)).rejects.toMatchObject({ code: "closed" })
  for (const said of [session.send("b"), session.start("b"), session.retry()]) {
    await expect(said).rejects.toMatchObject({ code: "closed" })
  }
})
