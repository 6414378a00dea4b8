import { expect, test } from "vitest"
import { createScriptedModel, type ScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import { createGate } from "../support/session/gate.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"

/** A model whose first answer comes when the gate opens, whatever its signal says. */
function createDeafModel() {
  const gate = createGate()
  const inner = createScriptedModel(["late", "again"])
  const model: ScriptedModel = {
    ...inner,
    async generate(request) {
      request.onDelta?.({ type: "text", text: "I was just" })
      const answer = await inner.generate({ ...request, onDelta: () => {}, signal: new AbortController().signal })
      if (inner.requests.length > 1) return answer
      await gate.pass()
      request.onDelta?.({ type: "text", text: " saying" })
      return answer
    },
  }
  return { model, gate }
}

test.each(PLACES)("a model that does not look at its signal holds no stopped turn (%s)", async (_, isKept) => {
  const { model, gate } = createDeafModel()
  const { runtime } = await openScripted(model, { isKept })
  const session = await runtime.createSession()
  const sent = session.send("go")
  await gate.reached
  session.stop()
  expect(await sent).toMatchObject({ outcome: "stopped", text: "I was just" })
  gate.open()
  expect((await session.send("and now?")).text).toBe("again")
  expect(session.history().map(textOf)).toEqual(["go", "I was just [stopped]", "and now?", "again"])
  expect(findHistoryProblems(session.history())).toEqual([])
})

test.each(PLACES)(
  "a call is paid by the model that answered it, although another was chosen meanwhile (%s)",
  async (_, isKept) => {
    const gate = createGate()
    const other = createScriptedModel(["two"], { id: "other/model" })
    const provider = definePlugin({ kind: "model_provider", name: "other", connect: async () => other })
    const script = [() => ({ gate: gate.pass(), text: "one" })]
    const { session, runtime } = await openAgent(script, { isKept, plugins: [provider] })
    const sent = session.send("a")
    await gate.reached
    await session.useModel("other/model")
    gate.open()
    await sent
    await session.send("b")
    expect(runtime.ledger.entries().map(({ model }) => model)).toEqual(["scripted/model", "other/model"])
  },
)
