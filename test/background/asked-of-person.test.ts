import { expect, test } from "vitest"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import type { VocabularyName } from "../../src/builtin/background/background-plugin.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { eventually } from "../support/eventually.ts"
import { nextWait } from "../support/next-wait.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { call, type OpenBackground, openBackground } from "../support/background/open-background.ts"

const asking: Tool = {
  ...echo,
  name: "asking",
  run: async (_, { person }) => (await person.ask({ kind: "text", text: "What now?" })).isAnswered,
}

const openWaits = ({ runtime }: Pick<OpenBackground, "runtime">) => runtime.engine.store.waits({ isOpen: true })

/** A conversation with a gate in the inbox, and one task that works until the test ends it. */
async function openGated(vocabulary: VocabularyName, script: readonly ScriptStep[]) {
  const slow = createGatedTool({ name: "slow", obeys: true })
  const agent = await openBackground(script, { vocabulary, tools: [echo, slow.tool, asking] })
  const { tasks } = agent.runtime
  const session = agent.session.id
  const group = await tasks.groups.open({ session, name: "build", merge: "human_gated" })
  await tasks.start({ tool: "echo", input: { value: "built" }, session, group: group.id })
  await tasks.groups.seal(group.id)
  await tasks.start({ tool: "slow", input: { name: "work" }, session })
  await eventually("a person is asked", async () => (await openWaits(agent)).length === 1)
  return { ...agent, work: await slow.call(1) }
}

test("a wait for everything waits for the work, even while a gate waits for a person", async () => {
  const agent = await openGated("meanwhile", [call("wait_for"), "All done."])
  const isWaiting = nextWait(agent.runtime)
  const turn = agent.session.send("wait")
  await isWaiting
  agent.work.finish("worked")
  await turn
  expect(agent.answers()[0]).toMatchObject({ reason: "met" })
  expect(JSON.stringify(agent.answers()[0])).toContain("worked")
  expect(await openWaits(agent)).toHaveLength(1)
})

test("a wait for everything ends if the work itself has asked a person", async () => {
  const agent = await openGated("meanwhile", [call("wait_for"), "It asks."])
  await agent.runtime.tasks.start({ tool: "asking", input: {}, session: agent.session.id })
  await eventually("a person is asked", async () => (await openWaits(agent)).length === 2)
  await agent.session.send("wait")
  expect(agent.answers()[0]).toMatchObject({ reason: "needs_answer" })
})

test("cancelling all stops the work, and leaves an open gate to the person", async () => {
  const agent = await openGated("opencode", [call("background_cancel", { all: true }), "Stopped."])
  await agent.session.send("stop")
  expect(agent.answers()[0]).toMatchObject({ cancelled: 1 })
  expect(await openWaits(agent)).toHaveLength(1)
})
