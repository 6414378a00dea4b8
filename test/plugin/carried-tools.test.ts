import { describe, expect, test } from "vitest"
import { call, callWithTask, openBackground } from "../support/background/open-background.ts"
import { lastSaid } from "../support/session/open-agent.ts"
import { createRenderFarm } from "../support/render-farm.ts"
import { openFarm, startRender } from "../support/plugin/open-farm.ts"

test("000-02: a plugin that runs its work elsewhere is discovered, and a call in the background is delegated to it", async () => {
  const agent = await openFarm([
    call("listBackgroundCapableTools"),
    startRender({ timeout_seconds: 100 }),
    callWithTask("getBackgroundTaskStatus"),
    "It renders.",
    "It is done.",
    "Nothing new.",
  ])
  const { farm, session, model } = agent
  await session.send("render it")
  const { id } = await agent.task(1)
  expect(agent.answers()).toMatchObject([
    { tools: [{ plugin_name: "farm", tool_name: "render" }], count: 1 },
    { success: true, task_id: id, plugin_name: "farm", tool_name: "render", estimated_duration_seconds: 42 },
    { task_id: id, plugin_name: "farm", status: "running" },
  ])
  await farm.task(1)
  expect(farm.tasks).toMatchObject([{ tool: "render", input: { scene: "dawn" }, timeoutSeconds: 160 }])
  farm.end(1, { result: { frames: 24 } })
  expect(await agent.ended(1)).toMatchObject({ status: "completed", patch: { payload: { frames: 24 } } })
  await session.send("and?")
  expect(lastSaid(model, -1)).toContain(`Task ${id} ("render"): completed.`)
  expect(lastSaid(model, -1)).toContain("24")
  await session.send("and now?")
  expect(lastSaid(model, -1)).toBe("and now?")
  expect(farm.tasks).toHaveLength(1)
})

describe("a call in the foreground of a tool that is run elsewhere", () => {
  test("answers with the result when it comes in time, and leaves no task", async () => {
    const agent = await openFarm([call("render", { scene: "dusk" }), "Done."])
    const sent = agent.session.send("render it")
    await agent.farm.task(1)
    agent.farm.end(1, { result: "a picture" })
    await sent
    expect(agent.answers()).toEqual([{ text: "a picture" }])
    expect((await agent.runtime.tasks.list({ kinds: ["tool"] })).items).toEqual([])
  })

  test("goes on as a task past the plugin's threshold, and is not started again", async () => {
    const agent = await openFarm([call("render"), "It takes a while."])
    const sent = agent.session.send("render it")
    await agent.farm.task(1)
    agent.clock.advance(5_000)
    await sent
    const { id } = await agent.task(1)
    expect(agent.answers()).toMatchObject([{ auto_backgrounded: true, task_id: id, threshold_seconds: 5 }])
    agent.farm.end(1, { result: "a picture" })
    expect(await agent.ended(1)).toMatchObject({ status: "completed", patch: { payload: "a picture" } })
    expect(agent.farm.tasks).toHaveLength(1)
  })

  test("stays there however long it takes when the plugin names no threshold, and can be started all the same", async () => {
    const agent = await openFarm([call("render"), startRender(), "Both."], {
      autoBackgroundThreshold: async () => null,
    })
    const sent = agent.session.send("render it")
    await agent.farm.task(1)
    agent.clock.advance(250_000)
    agent.farm.end(1, { result: "slowly" })
    await sent
    expect(agent.answers()).toMatchObject([{ text: "slowly" }, { success: true }])
    expect(await agent.farm.task(2)).toMatchObject({ input: { scene: "dawn" } })
  })

  test("is in the background from the start when the plugin's threshold is 0", async () => {
    const agent = await openFarm([call("render"), "Started."], { autoBackgroundThreshold: async () => 0 })
    await agent.session.send("render it")
    expect(agent.answers()).toMatchObject([{ auto_backgrounded: true, task_id: (await agent.task(1)).id }])
  })

  test("is run by the tool itself when the plugin does not run it elsewhere, and cannot be started there", async () => {
    const agent = await openFarm([call("render"), startRender(), "No."], {
      supportsBackground: async () => false,
    })
    await agent.session.send("render it")
    const error = "Plugin 'farm' does not support background execution. Capable plugins: []"
    expect(agent.answers()).toEqual([{ text: "in the foreground" }, { success: false, error }])
    expect(agent.farm.tasks).toEqual([])
  })
})

describe("stopping what runs elsewhere", () => {
  test("a cancel reaches it, and the task ends cancelled", async () => {
    const agent = await openFarm([
      startRender(),
      async () => {
        await agent.farm.task(1)
        return call("cancelBackgroundTask", { task_id: (await agent.task(1)).id })
      },
      "Stopped.",
    ])
    await agent.session.send("render it")
    expect(agent.answers()[1]).toMatchObject({ cancelled: true })
    expect(agent.farm.cancelled).toEqual(["farm-1"])
    expect(await agent.task(1)).toMatchObject({ status: "cancelled", stop: { by: "model" }, survivors: [] })
  })

  test("a cancel that fails there is not said to have stopped it", async () => {
    const agent = await openFarm([startRender(), "It runs."], { cancel: async () => false })
    await agent.session.send("render it")
    await agent.farm.task(1)
    const { id } = await agent.task(1)
    await agent.runtime.tasks.cancel(id)
    expect((await agent.runtime.tasks.get(id)).task.status).toBe("stopping")
    agent.clock.advance(60_000)
    const { task } = await agent.runtime.tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "cancelled", survivors: [{ command: expect.stringContaining("render") }] })
  })

  test("the task's own time limit stops it there", async () => {
    const agent = await openFarm([startRender({ timeout_seconds: 20 }), "It runs."])
    await agent.session.send("render it")
    await agent.farm.task(1)
    agent.clock.advance(20_000)
    expect(await agent.ended(1)).toMatchObject({ status: "timed_out" })
    expect(agent.farm.cancelled).toEqual(["farm-1"])
  })

  test("a stop that comes while it is being started there is passed on once it has an id", async () => {
    const gate = Promise.withResolvers<void>()
    const farm = createRenderFarm()
    const inner = farm.connect()
    const plugin = farm.connect({
      async startBackground(...parameters) {
        const handle = await inner.startBackground(...parameters)
        await gate.promise
        return handle
      },
    })
    const agent = await openBackground([startRender(), "It runs."], { plugins: [plugin] })
    await agent.session.send("render it")
    await farm.task(1)
    await agent.runtime.tasks.cancel((await agent.task(1)).id)
    gate.resolve()
    expect(await agent.ended(1)).toMatchObject({ status: "cancelled" })
    expect(farm.cancelled).toEqual(["farm-1"])
  })
})

test("what permission refuses is not started elsewhere", async () => {
  const permissions = { decide: () => ({ allowed: false, reason: "no pictures" }) as const }
  const agent = await openFarm([call("render"), "No."], {}, { permissions })
  await agent.session.send("render it")
  expect(agent.answers()[0]?.["text"]).toContain("no pictures")
  expect(agent.farm.tasks).toEqual([])
})
