import { expect, test } from "vitest"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"
import { echo } from "../support/tools.ts"
import { call, callWithTask } from "../support/background/open-background.ts"
import { openMeanwhile, start } from "../support/background/open-meanwhile.ts"

test("a list shows the tasks of this conversation, by status and by group", async () => {
  const agent = await openMeanwhile([
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
  const agent = await openMeanwhile([
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
  const agent = await openMeanwhile([
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
  const agent = await openMeanwhile([{ calls: [start("a")] }, "Runs.", steal, call("list_tasks"), "Not mine."])
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

test("a prefix of several ids is refused with all of these tasks", async () => {
  const agent = await openMeanwhile([
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
  expect(refusal).toMatch(/could be any of [0-9a-f-]{8,}, [0-9a-f-]{8,}/)
})

test("a tool that cannot run in the background is refused with those that can, and no unoffered tool is started", async () => {
  const agent = await openMeanwhile(
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

test("the ids in answers are accepted as input, and a started task keeps its title, limits and notify", async () => {
  const agent = await openMeanwhile([
    { calls: [start("a", { title: "bake", timeout_seconds: 90, notify: "silent" })] },
    callWithTask("cancel_task"),
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

test("a start that must wait for a slot says its place in the queue", async () => {
  const agent = await openMeanwhile([{ calls: [start("a"), start("b")] }, "One runs, one waits."], {
    background: { maxConcurrentPerPlugin: 1 },
  })
  await agent.session.send("go")
  const queued = agent.answers().filter(({ status }) => status === "queued")
  expect(queued).toMatchObject([{ place_in_queue: 1 }])
})

test("a long list shows the newest hundred, and says how many it leaves out", async () => {
  const calls = Array.from({ length: 103 }, (_, index) => start(String(index)))
  const agent = await openMeanwhile([{ calls }, call("list_tasks"), "Many."])
  await agent.session.send("go")
  const list = agent.answers().at(-1)
  expect(list).toMatchObject({ count: 103, note: expect.stringContaining("3 older ones") })
  expect((list as { tasks: unknown[] }).tasks).toHaveLength(100)
})

test("a start names a lifetime and a limit, which the model is told and may change", async () => {
  const agent = await openMeanwhile([
    { calls: [start("a", { lifetime: "forever", timeout_seconds: 0 })] },
    callWithTask("limit_task", { timeout_seconds: 7_200 }),
    callWithTask("get_task"),
    callWithTask("limit_task", { timeout_seconds: 0 }),
    "Set.",
  ])
  await agent.session.send("go")
  expect(agent.answers().map((answer) => answer["time_limit_seconds"])).toEqual([null, 7_200, 7_200, null])
  expect(await agent.task(1)).toMatchObject({ status: "running", lifetime: "forever", limits: { timeoutMs: null } })
})

test("a task of lifetime turn ends with the turn, and one that names nothing goes on with its limit told", async () => {
  const agent = await openMeanwhile([{ calls: [start("a", { lifetime: "turn" }), start("b")] }, "Both."])
  await agent.session.send("go")
  expect(await agent.ended(1)).toMatchObject({ status: "cancelled", stop: { by: "lifetime" } })
  expect(await agent.task(2)).toMatchObject({ status: "running", lifetime: "runtime" })
  expect(agent.answers()[1]).toMatchObject({ time_limit_seconds: 300 })
})

test("the limit of a task that another conversation started is not the model's to change", async () => {
  const agent = await openMeanwhile([
    { calls: [start("a")] },
    "Runs.",
    async () => call("limit_task", { task_id: (await agent.task(1)).id, timeout_seconds: 1 }),
    "Not mine.",
  ])
  await agent.session.send("go")
  const other = await agent.runtime.createSession()
  await other.send("take it")
  expect(resultText(resultsOf(other.history()).at(-1))).toContain("belongs to another conversation")
  expect((await agent.task(1)).limits.timeoutMs).toBe(300_000)
})
