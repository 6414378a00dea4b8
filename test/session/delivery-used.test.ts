import { describe, expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import type { JsonObject } from "../../src/base/json.ts"
import { lastSaid, PLACES } from "../support/session/open-agent.ts"
import {
  notificationsOf,
  openReporting,
  type ReportingAgent,
  reportsOf,
  tasksOf,
  waitForEnds,
  waitForReports,
} from "../support/session/reporting.ts"

/** The agent of the running test, whose tasks the scripts name. */
let agent: ReportingAgent

const toStart = (more: JsonObject = {}): ScriptStep => ({
  calls: [{ tool: "start_task", input: { tool: "gated", input: { name: "bread" }, ...more } }],
})
const about =
  (tool: string, toInput: (ids: readonly string[]) => JsonObject): ScriptStep =>
  async () => ({ calls: [{ tool, input: toInput(await tasksOf(agent)) }] })
const waiting = about("wait_for", (tasks) => ({ tasks: [...tasks] }))
const acknowledging = about("acknowledge", (ids) => ({ task_ids: [...ids] }))
const getting = about("get_task", ([id = ""]) => ({ task_id: id }))

async function open(script: readonly ScriptStep[], isKept: boolean): Promise<void> {
  agent = await openReporting(script, { isKept, plugins: [createBackgroundPlugin({ vocabulary: "meanwhile" })] })
}

async function expectNothingMore(): Promise<void> {
  await agent.session.reported()
  expect([reportsOf(agent), notificationsOf(agent)]).toEqual([[], []])
  await agent.session.send("anything new?")
  expect(lastSaid(agent.model, -1)).toBe("anything new?")
  expect((await agent.session.trajectory.unconsumed()).size).toBe(0)
}

describe.each(PLACES)("C4: a result already read is not reported again, %s", (_, isKept) => {
  test("by a blocking wait", async () => {
    await open([toStart(), waiting, "It is ready.", "Nothing."], isKept)
    const sending = agent.session.send("bake")
    const call = await agent.gated.call(1)
    call.finish("a loaf")
    expect((await sending).text).toBe("It is ready.")
    expect(JSON.stringify(agent.session.history())).toContain("a loaf")
    await expectNothingMore()
  })

  test("by a retained turn", async () => {
    await open([toStart({ wait: true }), "It is ready.", "Nothing."], isKept)
    const sending = agent.session.send("bake")
    const call = await agent.gated.call(1)
    call.finish("a loaf")
    expect((await sending).text).toBe("It is ready.")
    await expectNothingMore()
  })

  test("by an acknowledgement", async () => {
    await open([toStart({ notify: "next_turn" }), "It runs.", "Hm.", "Nothing."], isKept)
    await agent.session.send("bake")
    const call = await agent.gated.call(1)
    call.finish("a loaf")
    const ids = await tasksOf(agent)
    await waitForEnds(agent, ids)
    expect(await agent.runtime.tasks.acknowledge(ids)).toBe(1)
    await expectNothingMore()
  })

  test("by an acknowledgement of the model", async () => {
    await open([toStart({ notify: "silent" }), "It runs.", acknowledging, "I know.", "Nothing."], isKept)
    await agent.session.send("bake")
    const call = await agent.gated.call(1)
    call.finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    await agent.session.send("do you know?")
    await expectNothingMore()
  })

  test("by a look at it that gave the result", async () => {
    await open([toStart({ notify: "silent" }), "It runs.", getting, "I know.", "Nothing."], isKept)
    await agent.session.send("bake")
    const call = await agent.gated.call(1)
    call.finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    await agent.session.send("look")
    expect(JSON.stringify(agent.session.history())).toContain("a loaf")
    await expectNothingMore()
  })
})

test("a person who looks at a result does not use it", async () => {
  await open([toStart(), "It runs.", "It is ready."], true)
  await agent.session.send("bake")
  agent.session.disableReports()
  const call = await agent.gated.call(1)
  call.finish("a loaf")
  const [id = ""] = await tasksOf(agent)
  await agent.runtime.tasks.result(id, { waitMs: 30_000 })
  await agent.runtime.tasks.get(id)
  agent.session.enableReports()
  expect(await waitForReports(agent, 1)).toEqual(["It is ready."])
})

test("a result that a call claimed and did not show, because it was stopped, is told after all", async () => {
  const script = [toStart(), waiting, "It is ready."]
  await open(script, true)
  const isWaiting = Promise.withResolvers<void>()
  agent.runtime.on((event) => {
    if (!event.type.startsWith("tool_call.") || !("tool" in event) || event.tool !== "wait_for") return
    if (event.type === "tool_call.started") isWaiting.resolve()
    if (event.type === "tool_call.ended") agent.session.stop()
  })
  const sending = agent.session.send("bake")
  const call = await agent.gated.call(1)
  await isWaiting.promise
  call.finish("a loaf")
  await sending
  await agent.session.reported()
  const shown = JSON.stringify(agent.session.history()).split("a loaf").length - 1
  expect(shown).toBe(1)
})
