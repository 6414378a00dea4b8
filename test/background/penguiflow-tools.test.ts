import { describe, expect, test } from "vitest"
import type { JsonObject } from "../../src/base/json.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { eventually } from "../support/eventually.ts"
import {
  type BackgroundOptions,
  call,
  createGatedCommand,
  lastAnswer,
  type OpenBackground,
  openBackground,
} from "../support/background/open-background.ts"
import { about, behindGate, type OpenDelegation, openDelegation } from "../support/background/open-delegation.ts"

/** The agent of the running test: scripts look at its tasks. */
let agent: OpenBackground
const get = (number: number, more = {}) => about(() => agent, "tasks.get", number, more)

const toSpawn = (name: string, more: JsonObject = {}) => ({
  tool: "tasks.spawn",
  input: { mode: "job", tool_name: "run_command", tool_args: { name }, ...more },
})
const spawn = (...names: readonly string[]): ScriptStep => ({ calls: names.map((name) => toSpawn(name)) })
const spawnGrouped = (group: string, ...names: readonly string[]): ScriptStep => ({
  calls: names.map((name) => toSpawn(name, { group })),
})

async function open(script: readonly ScriptStep[], options: BackgroundOptions = {}) {
  const gated = createGatedCommand()
  agent = await openBackground(script, { vocabulary: "penguiflow", shell: [gated.tool], ...options })
  return gated
}

describe("tasks.spawn", () => {
  test("a subagent gets the query, and works with the profile", async () => {
    const query = { query: "Count the files.", profile: "worker", context_depth: "none" }
    const delegation: OpenDelegation = await openDelegation([call("tasks.spawn", query), "It works."], ["3 files."], {
      vocabulary: "penguiflow",
    })
    await delegation.session.send("a secret plan")
    await delegation.ended(1)
    const asked = JSON.stringify(delegation.asked()[0]?.messages)
    expect(asked).toContain("Count the files.")
    expect(asked).not.toContain("secret plan")
    expect(delegation.answers()).toMatchObject([{ mode: "subagent", is_new: true, retained: false }])
  })

  test("a job has the lifetime and the time limit it was given, which are told again", async () => {
    const more = { lifetime: "forever", timeout_seconds: 7_200 }
    await open([{ calls: [toSpawn("serve", more)] }, get(1), "It runs."])
    await agent.session.send("serve")
    expect(await agent.task(1)).toMatchObject({ lifetime: "forever", limits: { timeoutMs: 7_200_000 } })
    expect(agent.answers().map((answer) => answer["time_limit_seconds"])).toEqual([7_200, 7_200])
  })

  test("a job calls the tool, with the description and the priority it was given", async () => {
    const gated = await open([
      { calls: [toSpawn("make", { description: "the build", priority: 7, notify: "next_turn" })] },
      "It runs.",
    ])
    await agent.session.send("build")
    expect((await gated.call(1)).input.name).toBe("make")
    expect(await agent.task(1)).toMatchObject({ title: "the build", priority: 7, notify: "next_turn", kind: "tool" })
  })

  test("a subagent without a query and a job without a tool are refused, with what is missing", async () => {
    await open([call("tasks.spawn", { mode: "subagent" }), call("tasks.spawn", { mode: "job" }), "Oh."])
    await agent.session.send("go")
    const [first, second] = agent.answers().map((told) => JSON.stringify(told))
    expect(first).toContain("a subagent needs a query")
    expect(second).toContain("a job needs tool_name")
  })

  test("a group that takes no more tasks is refused by its id", async () => {
    await open([
      { calls: [toSpawn("a", { group: "done", group_sealed: true })] },
      (request) => ({ calls: [toSpawn("b", { group_id: lastAnswer(request)["group_id"] ?? null })] }),
      "Oh.",
    ])
    await agent.session.send("go")
    expect(JSON.stringify(agent.answers().at(-1))).toContain("takes no more tasks")
  })

  test("a task alone with a merge strategy of its own is a sealed group of one", async () => {
    await open([{ calls: [toSpawn("a", { merge_strategy: "REPLACE", description: "weather" })] }, "It runs."])
    await agent.session.send("go")
    expect(agent.answers()).toMatchObject([
      { group: { name: "weather", status: "sealed", merge_strategy: "replace", task_count: 1 } },
    ])
  })
})

describe("tasks.list, tasks.get, tasks.cancel and tasks.prioritize", () => {
  test("list them by status, the newest first", async () => {
    const gated = await open([spawn("a", "b"), "Both run.", call("tasks.list", { status: "running" }), "One."])
    await agent.session.send("go")
    await gated.call(2)
    gated.calls[0]?.finish("done")
    await eventually(
      "one has ended",
      async () => (await agent.runtime.tasks.list({ statuses: ["completed"] })).items[0],
    )
    await agent.session.send("and?")
    expect(agent.answers().at(-1)).toMatchObject({ count: 1, tasks: [{ status: "running", mode: "job" }] })
  })

  test("show how a task stands, and its result only when asked for", async () => {
    const gated = await open([spawn("a"), get(1), "It runs.", get(1, { include_result: true }), "Done."])
    await agent.session.send("go")
    expect(agent.answers().at(-1)).not.toHaveProperty("digest")
    ;(await gated.call(1)).finish({ lines: 3 })
    await agent.ended(1)
    await agent.session.send("and?")
    expect(agent.answers().at(-1)).toMatchObject({ status: "completed", result: { lines: 3 } })
  })

  test("stop a task, with the reason on its record", async () => {
    await open([spawn("a"), "It runs.", about(() => agent, "tasks.cancel", 1, { reason: "wrong folder" }), "Stopped."])
    await agent.session.send("go")
    await agent.session.send("stop")
    expect(agent.answers().at(-1)).toMatchObject({ ok: true })
    expect(await agent.ended(1)).toMatchObject({ status: "cancelled", stop: { by: "model", reason: "wrong folder" } })
  })

  test("change the priority of a task that waits for its turn", async () => {
    const gated = await open(
      [spawn("a", "b", "c"), "They queue.", about(() => agent, "tasks.prioritize", 3, { priority: 9 }), "Done."],
      { background: { maxConcurrentTasks: 1 } },
    )
    await agent.session.send("go")
    const first = await gated.call(1)
    const { title, input } = await agent.task(3)
    await agent.session.send("the last one first")
    expect(agent.answers().at(-1)).toMatchObject({ ok: true, priority: 9, description: title })
    first.finish()
    expect((await gated.call(2)).input).toEqual(input)
    gated.calls[1]?.finish()
    ;(await gated.call(3)).finish()
  })
})

describe("groups", () => {
  test("are listed, shown with their tasks, and sealed by their name", async () => {
    const gated = await open([
      spawnGrouped("both", "a", "b"),
      call("tasks.list_groups", { status: "open" }),
      call("tasks.seal_group", { group: "both" }),
      call("tasks.get_group", { group: "both" }),
      "Both run.",
    ])
    await agent.session.send("go")
    const [list, sealed, shown] = agent.answers().slice(-3)
    expect(list).toMatchObject({ count: 1, groups: [{ name: "both", status: "open", task_count: 2 }] })
    expect(sealed).toMatchObject({ ok: true, sealed_task_count: 2, status: "sealed" })
    expect((shown as { tasks: unknown[] }).tasks).toHaveLength(2)
    for (const each of [1, 2]) (await gated.call(each)).finish()
  })

  test("are cancelled with all their tasks", async () => {
    const cancel = call("tasks.cancel_group", { group: "both", reason: "enough" })
    const gated = await open([spawnGrouped("both", "a", "b"), "Both run.", cancel, "Stopped."])
    await agent.session.send("go")
    await gated.call(2)
    await agent.session.send("stop")
    expect(agent.answers().at(-1)).toMatchObject({ ok: true, status: "cancelled", cancelled_task_count: 2 })
    expect(await agent.ended(1)).toMatchObject({ status: "cancelled", stop: { reason: "enough" } })
    expect(await agent.ended(2)).toMatchObject({ status: "cancelled" })
  })

  test("need their id or their name, and not both", async () => {
    await open([call("tasks.get_group"), call("tasks.seal_group", { group: "a", group_id: "b" }), "Oh."])
    await agent.session.send("go")
    for (const told of agent.answers()) expect(JSON.stringify(told)).toContain("give either group_id or group")
  })
})

test("a call that moves to the background by itself names the tools that show and stop it", async () => {
  const { gate, step } = behindGate("late")
  const delegation = await openDelegation(
    [call("spawn_subagent", { task: "Go.", profile: "worker" }), "It works."],
    [step],
    {
      vocabulary: "penguiflow",
    },
  )
  const turn = delegation.session.send("go")
  await gate.reached
  await eventually("it moves", async () => (await delegation.session.promote()).length > 0)
  await turn
  expect(JSON.stringify(delegation.answers())).toMatch(/tasks\.get shows how far it is, and tasks\.cancel stops it/)
  gate.open()
  await delegation.ended(1)
})
