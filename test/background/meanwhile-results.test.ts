import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { lastSaid, PLACES } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import { call, callWithTask } from "../support/background/open-background.ts"
import { openMeanwhile, start } from "../support/background/open-meanwhile.ts"

describe.each(PLACES)("in a conversation %s", (_, isKept) => {
  test("a task is started, looked at, and its result is told once, whichever way comes first", async () => {
    const agent = await openMeanwhile(
      [
        { calls: [start("a", { title: "bake bread" })] },
        callWithTask("get_task"),
        "It bakes.",
        callAgain,
        "Bread.",
        "No.",
      ],
      { isKept },
    )
    async function callAgain() {
      agent.gated.calls[0]?.finish({ loaves: 2 })
      await agent.ended(1)
      return call("get_task", { task_id: (await agent.task(1)).id.slice(0, 8) })
    }
    await agent.session.send("bake")
    const { id } = await agent.task(1)
    const [started, looked] = agent.answers()
    expect(started).toMatchObject({ task_id: id.slice(0, 8), title: "bake bread", tool: "gated", status: "running" })
    expect(started?.["note"]).toContain("comes back to you by itself")
    expect(looked).toMatchObject({ status: "running", output_bytes: 0 })
    await agent.session.send("how is it?")
    expect(agent.answers()[2]).toMatchObject({ status: "completed", result: { loaves: 2 } })
    await agent.session.send("anything else?")
    expect(lastSaid(agent.model, -1)).toBe("anything else?")
  })

  test("a start with `wait` keeps the turn open, and its result is not told again", async () => {
    const agent = await openMeanwhile([{ calls: [start("a", { wait: true })] }, "It is done.", "Nothing new."], {
      isKept,
    })
    const turn = agent.session.send("do it")
    const running = await agent.gated.call(1)
    running.finish("bread")
    expect((await turn).text).toBe("It is done.")
    expect(agent.answers()).toMatchObject([{ tasks: [{ status: "completed", result: "bread" }] }])
    await agent.session.send("anything new?")
    expect(lastSaid(agent.model, -1)).toBe("anything new?")
  })

  test("at the limit of a retained turn the turn goes on, and the result comes later", async () => {
    const clock = createManualClock()
    const agent = await openMeanwhile([{ calls: [start("a", { wait: true })] }, "It takes long.", "Bread!"], {
      isKept,
      clock,
      background: { retainTurnTimeoutMs: 4_000 },
    })
    const turn = agent.session.send("do it")
    const running = await agent.gated.call(1)
    await eventually("the turn goes on", () => {
      clock.advance(500)
      return agent.model.callCount === 2
    })
    await turn
    expect(agent.answers()[0]?.["note"]).toContain("goes on in the background")
    running.finish("bread")
    await agent.ended(1)
    await agent.session.send("well?")
    expect(lastSaid(agent.model, -1)).toContain("bread")
  })

  test("a message of the person ends a wait, and stops no task", async () => {
    const agent = await openMeanwhile([{ calls: [start("a")] }, call("wait_for"), "What is it?", "You said hello."], {
      isKept,
    })
    const turn = agent.session.send("do it and wait")
    await agent.gated.call(1)
    await eventually("it waits", () => agent.model.callCount === 2)
    const second = agent.session.send("hello")
    await Promise.all([turn, second])
    expect(agent.answers()[1]).toMatchObject({ reason: "released", tasks: [{ status: "running" }] })
    expect((await agent.task(1)).status).toBe("running")
  })

  test("a wait for any of several tasks, or for a text that one prints, ends as soon as that has come", async () => {
    const agent = await openMeanwhile(
      [
        { calls: [start("a"), start("b")] },
        async () => {
          const running = await agent.gated.call(2)
          running.finish("first")
          return call("wait_for", { until: "any" })
        },
        async () => {
          const { context } = await agent.gated.call(1)
          context.output.write("compiling\nready on port 8080\n")
          return call("wait_for", { tasks: [context.taskId], pattern: "ready on port" })
        },
        "Both.",
      ],
      { isKept },
    )
    await agent.session.send("go")
    const [, , any, pattern] = agent.answers()
    expect(any?.["reason"]).toBe("met")
    expect(JSON.stringify(any)).toContain("first")
    expect(pattern).toMatchObject({ reason: "met", line: "ready on port 8080" })
  })

  test("an acknowledged result is not told", async () => {
    const agent = await openMeanwhile(
      [
        { calls: [start("a")] },
        "Runs.",
        async () => {
          agent.gated.calls[0]?.finish("bread")
          return call("acknowledge", { task_ids: ["0123", (await agent.ended(1)).id] })
        },
        "Good.",
        "No.",
      ],
      { isKept },
    )
    await agent.session.send("go")
    await agent.gated.call(1)
    await agent.session.send("I know the result")
    expect(agent.answers()[1]).toEqual({ acknowledged: 1, unknown: ["0123"] })
    await agent.session.send("anything new?")
    expect(lastSaid(agent.model, -1)).toBe("anything new?")
  })
})
