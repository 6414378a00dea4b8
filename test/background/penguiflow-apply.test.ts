import { describe, expect, test } from "vitest"
import type { JsonObject } from "../../src/base/json.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { lastSaid } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import { createAnsweringPerson } from "../support/background/answering-person.ts"
import {
  type BackgroundOptions,
  call,
  createGatedCommand,
  type OpenBackground,
  openBackground,
} from "../support/background/open-background.ts"
import { openDelegation } from "../support/background/open-delegation.ts"

/** The agent of the running test: scripts look at its tasks. */
let agent: OpenBackground

const toSpawn = (name: string, more: JsonObject = {}) => ({
  tool: "tasks.spawn",
  input: { mode: "job", tool_name: "run_command", tool_args: { name }, ...more },
})

async function open(script: readonly ScriptStep[], options: BackgroundOptions = {}) {
  const gated = createGatedCommand()
  agent = await openBackground(script, { vocabulary: "penguiflow", shell: [gated.tool], ...options })
  return gated
}

const gate = { merge_strategy: "human_gated", description: "the build" }

/** Opens a conversation in which a gated task has ended, and the model wants to use its result. */
async function openGated(action: string, options: BackgroundOptions = {}): Promise<void> {
  const apply: ScriptStep = async () => call("tasks.apply_patch", { patch_id: (await agent.task(1)).id, action })
  const gated = await open([{ calls: [toSpawn("a", gate)] }, "It runs.", apply, "So be it."], options)
  await agent.session.send("build")
  ;(await gated.call(1)).finish("built")
  await eventually("it waits for a decision", async () => (await openWaits()).length === 1)
  await agent.session.send("decide")
}
const openWaits = () => agent.runtime.engine.store.waits({ isOpen: true })

test("rejects the result of a task, by the task's own id", async () => {
  await openGated("reject")
  expect(agent.answers().at(-1)).toMatchObject({ ok: true, action: "reject" })
  expect(await openWaits()).toEqual([])
})

test("a second decision is refused", async () => {
  const again: ScriptStep = call("tasks.apply_patch", { patch_id: "the build", action: "reject" })
  const apply = call("tasks.apply_patch", { patch_id: "the build" })
  const { person, questions } = createAnsweringPerson("yes")
  const script = [{ calls: [toSpawn("a", gate)] }, "It runs.", apply, again, apply, "So be it."]
  const gated = await open(script, { person })
  await agent.session.send("build")
  ;(await gated.call(1)).finish("built")
  await eventually("it waits for a decision", async () => (await openWaits()).length === 1)
  await agent.session.send("decide")
  for (const told of agent.answers().slice(-2)) expect(JSON.stringify(told)).toContain("decided on already")
  expect(questions).toHaveLength(1)
})

test("applying asks the person, who sees the result, even if the policy allows everything", async () => {
  const { person, questions } = createAnsweringPerson("yes")
  await openGated("apply", { person, permissions: { mode: "allow_all", rules: [] } })
  expect(questions).toMatchObject([{ kind: "approval", text: expect.stringContaining("the build") }])
  expect(questions[0]?.detail).toContain("built")
  expect(agent.answers().at(-1)).toMatchObject({ ok: true, action: "apply" })
  const gates = await agent.runtime.tasks.list({ tool: "apply_results", statuses: ["completed"] })
  expect(gates.items).toHaveLength(1)
  const [wait] = await agent.runtime.engine.store.waits({ taskId: gates.items[0]?.id ?? ("" as never) })
  expect(wait).toMatchObject({ state: "answered", answer: true, answeredBy: "test" })
})

test.each(["no", null])("a person who answers %s leaves the decision open, and the model is told so", async (said) => {
  await openGated("apply", { person: createAnsweringPerson(said).person })
  const told = { ok: false, action: "apply", message: expect.stringContaining("Nothing is applied.") }
  expect(agent.answers().at(-1)).toMatchObject(told)
  expect(await openWaits()).toHaveLength(1)
})

test("with nobody there nothing is applied, and the model is told that the person decides in the inbox", async () => {
  await openGated("apply")
  const told = { ok: false, message: expect.stringContaining("until the person decides in their inbox") }
  expect(agent.answers().at(-1)).toMatchObject(told)
  expect(await openWaits()).toHaveLength(1)
})

test("an agent in the background applies nothing, and the gate's question is the only one in the inbox", async () => {
  const { person, questions } = createAnsweringPerson("yes")
  const below: ScriptStep[] = [
    { calls: [toSpawn("a", gate)] },
    async () => {
      await eventually("it waits for a decision", async () => (await openWaits()).length === 1)
      return call("tasks.apply_patch", { patch_id: "the build" })
    },
    "It is for the person to say.",
  ]
  const job = createGatedCommand()
  const main = [call("tasks.spawn", { query: "Build.", profile: "worker" }), "It works."]
  const delegation = await openDelegation(main, below, { vocabulary: "penguiflow", shell: [job.tool], person })
  agent = delegation
  await agent.session.send("go")
  ;(await job.call(1)).finish("built")
  await eventually("it was told", () => delegation.asked().length === 3)
  expect(JSON.stringify(delegation.asked()[2]?.messages)).toContain("Nothing is applied.")
  expect(questions).toEqual([])
  expect(await openWaits()).toHaveLength(1)
})

test("a task that needs no decision is told so", async () => {
  const apply: ScriptStep = async () => call("tasks.apply_patch", { patch_id: (await agent.task(1)).id })
  await open([{ calls: [toSpawn("a")] }, apply, "Oh."])
  await agent.session.send("go")
  expect(JSON.stringify(agent.answers().at(-1))).toContain("needs no decision")
})

describe("results that a person decides on", () => {
  test("001-62: they are told after they were applied, and not before", async () => {
    const { person } = createAnsweringPerson("yes")
    const script = [
      { calls: [toSpawn("build", gate)] },
      "It runs.",
      "Yes?",
      call("tasks.apply_patch", { patch_id: "the build" }),
      "Applied.",
      "I see.",
    ]
    const gated = await open(script, { person })
    await agent.session.send("build")
    ;(await gated.call(1)).finish("built")
    await eventually("a person is asked", async () => (await openWaits()).length === 1)
    await agent.session.send("hello")
    expect(lastSaid(agent.model, -1)).not.toContain("| built")
    await agent.session.send("apply it")
    expect(agent.answers().at(-1)).toMatchObject({ ok: true, action: "apply", name: "the build" })
    await agent.session.send("and?")
    expect(JSON.stringify(agent.session.history())).toContain("built")
    expect(await openWaits()).toEqual([])
  })

  test("those of tasks that one message starts one by one are decided on one by one, whatever their names are", async () => {
    const names = ["one", "two", "three"]
    const alone = names.map((name) => toSpawn(name, { merge_strategy: "human_gated" }))
    const gated = await open([{ calls: alone }, "They run."])
    await agent.session.send("all of them")
    expect(agent.answers()).toMatchObject(names.map(() => ({ is_new: true, group: { task_count: 1 } })))
    for (const number of [1, 2, 3]) (await gated.call(number)).finish("done")
    await eventually("a person is asked about each", async () => (await openWaits()).length === 3)
  })
})
