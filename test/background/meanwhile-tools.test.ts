import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { JsonObject } from "../../src/base/json.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { eventually } from "../support/eventually.ts"
import { lastSaid, PLACES, resultsOf, resultText } from "../session/support/open-agent.ts"
import { add } from "../session/support/test-tools.ts"
import { type BackgroundOptions, call, callWithTask, lastAnswer, openBackground } from "./support/open-background.ts"

const start = (name: string, more: JsonObject = {}) => ({
  tool: "start_task",
  input: { tool: "gated", input: { name }, ...more },
})

function open(script: Parameters<typeof openBackground>[0], options: BackgroundOptions = {}) {
  const gated = createGatedTool({ obeys: true })
  const tools = [gated.tool, ...(options.tools ?? [])]
  return openBackground(script, { vocabulary: "meanwhile", ...options, tools }).then((agent) => ({ ...agent, gated }))
}

describe.each(PLACES)("in a conversation %s", (_, isKept) => {
  test("a task is started, looked at, and its result is told once, by whoever is first", async () => {
    const agent = await open(
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

  test("a start that is to be waited for keeps the turn open, and its result is not told again", async () => {
    const agent = await open([{ calls: [start("a", { wait: true })] }, "It is done.", "Nothing new."], { isKept })
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
    const agent = await open([{ calls: [start("a", { wait: true })] }, "It takes long.", "Bread!"], {
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

  test("a wait is ended by what the person says, and nothing is stopped by that", async () => {
    const agent = await open([{ calls: [start("a")] }, call("wait_for"), "What is it?", "You said hello."], { isKept })
    const turn = agent.session.send("do it and wait")
    await agent.gated.call(1)
    await eventually("it waits", () => agent.model.callCount === 2)
    const second = agent.session.send("hello")
    await Promise.all([turn, second])
    expect(agent.answers()[1]).toMatchObject({ reason: "released", tasks: [{ status: "running" }] })
    expect((await agent.task(1)).status).toBe("running")
  })

  test("waiting for any of them, or for a text that one prints, ends as soon as that is there", async () => {
    const agent = await open(
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
    const agent = await open(
      [
        { calls: [start("a")] },
        "Runs.",
        async () => {
          agent.gated.calls[0]?.finish("bread")
          return call("acknowledge", { task_ids: [(await agent.ended(1)).id] })
        },
        "Good.",
        "No.",
      ],
      { isKept },
    )
    await agent.session.send("go")
    await agent.gated.call(1)
    await agent.session.send("I know the result")
    expect(agent.answers()[1]).toEqual({ acknowledged: 1 })
    await agent.session.send("anything new?")
    expect(lastSaid(agent.model, -1)).toBe("anything new?")
  })
})

test("a list shows the tasks of this conversation, by status and by group", async () => {
  const agent = await open([
    { calls: [start("a", { group: "bakery" }), start("b", { group: "bakery", seal: true }), start("c")] },
    call("list_tasks"),
    call("list_tasks", { group: "bakery" }),
    call("list_tasks", { status: "completed" }),
    "Three.",
  ])
  await agent.session.send("go")
  const [, sealed, , all, ofGroup, completed] = agent.answers()
  expect(sealed).toMatchObject({ in_group: { name: "bakery", state: "sealed", members: 2 } })
  expect([all, ofGroup, completed].map((answer) => answer?.["count"])).toEqual([3, 2, 0])
})

test("output is read from an offset, or from its end", async () => {
  const agent = await open([
    { calls: [start("a")] },
    async () => {
      const { context } = await agent.gated.call(1)
      context.output.write("one\ntwo\n")
      return call("get_task", { task_id: (await agent.task(1)).id, offset: 4 })
    },
    async () => call("get_task", { task_id: (await agent.task(1)).id, tail: 4 }),
    "Read.",
  ])
  await agent.session.send("go")
  const read = agent.answers().slice(1)
  expect(read).toMatchObject([
    { output: { text: "two\n", offset: 4, next_offset: 8, total_bytes: 8 } },
    { output: { text: "two\n", offset: 4 } },
  ])
})

test("a task is cancelled, and so is a whole group", async () => {
  const agent = await open([
    { calls: [start("a"), start("b", { group: "pair" }), start("c", { group: "pair" })] },
    async () => call("cancel_task", { task_id: (await agent.task(1)).id }),
    call("cancel_task", { group: "pair" }),
    call("cancel_task", {}),
    "Gone.",
  ])
  await agent.session.send("go")
  for (const number of [1, 2, 3]) expect(await agent.ended(number)).toMatchObject({ status: "cancelled" })
  expect((await agent.task(1)) as object).toMatchObject({ stop: { by: "model" } })
  expect(resultText(resultsOf(agent.session.history()).at(-1))).toContain("give either task_id or group")
})

test("what another conversation started can be read, and neither cancelled nor waited for nor listed", async () => {
  const agent = await open([{ calls: [start("a")] }, "Runs.", steal, call("list_tasks"), "Not mine."])
  async function steal() {
    const input = { task_id: (await agent.task(1)).id }
    return {
      calls: [
        { tool: "get_task", input },
        { tool: "cancel_task", input },
        { tool: "wait_for", input: { tasks: [input.task_id] } },
      ],
    }
  }
  await agent.session.send("go")
  const other = await agent.runtime.createSession()
  await other.send("take it")
  const [read, cancelled, waited, listed] = resultsOf(other.history()).map(resultText)
  expect(JSON.parse(read ?? "")).toMatchObject({ status: "running" })
  expect(cancelled).toContain("belongs to another conversation")
  expect(waited).toContain("belongs to another conversation")
  expect(JSON.parse(listed ?? "")).toEqual({ tasks: [], count: 0 })
  expect((await agent.task(1)).status).toBe("running")
})

test("a prefix that means several tasks is refused with all of them", async () => {
  const agent = await open([
    { calls: Array.from({ length: 17 }, (_, index) => start(String(index))) },
    async () => {
      const { items } = await agent.runtime.tasks.list({ session: agent.session.id, kinds: ["tool"] })
      const firsts = items.map(({ id }) => id[0] ?? "")
      const twice = firsts.find((first, index) => firsts.indexOf(first) !== index) ?? ""
      return call("get_task", { task_id: twice })
    },
    "Which?",
  ])
  await agent.session.send("go")
  const refusal = resultText(resultsOf(agent.session.history()).at(-1))
  expect(refusal).toMatch(/could be any of [0-9a-f-]{36}, [0-9a-f-]{36}/)
})

test("a tool that cannot run in the background is refused with those that can, and one not offered is not started", async () => {
  const agent = await open(
    [
      call("start_task", { tool: "add", input: { a: 1, b: 2 } }),
      call("start_task", { tool: "gatet", input: {} }),
      call("start_task", { tool: "echo", input: {} }),
      "None.",
    ],
    { tools: [add, echo], session: { tools: ["gated", "add", "background"] } },
  )
  await agent.session.send("go")
  const refusals = resultsOf(agent.session.history())
  expect(refusals.map(({ isError }) => isError)).toEqual([true, true, true])
  const [cannot, unknown, notOffered] = refusals.map(resultText)
  expect(cannot).toBe("add cannot run in the background. These can: gated.")
  expect(unknown).toContain("Did you mean gated?")
  expect(notOffered).toContain("There is no tool echo to run in the background. These can: gated.")
})

test("the ids that it shows are taken back, and what it started keeps its title, limits and notify", async () => {
  const agent = await open([
    { calls: [start("a", { title: "bake", timeout_seconds: 90, notify: "silent" })] },
    (request) => call("cancel_task", { task_id: String(lastAnswer(request)["task_id"]) }),
    "Gone.",
  ])
  await agent.session.send("go")
  expect(await agent.ended(1)).toMatchObject({
    title: "bake",
    notify: "silent",
    limits: { timeoutMs: 90_000 },
    status: "cancelled",
  })
})
