import { describe, expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createScriptedProvider } from "../../src/builtin/scripted/scripted-provider.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { textOf, userMessage } from "../../src/plugin/message.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"
import { createGate } from "../support/session/gate.ts"
import { add, say } from "../support/session/test-tools.ts"

/** What the system prompt says because of the tools. */
const THRESHOLD =
  "Unless its tool says otherwise, a call that takes longer than 10 s goes on in the background as a task; its result comes back by itself."

const call = { tool: "add", input: { a: 1, b: 2 } }

describe.each(PLACES)("the model of a session, %s", (_, isKept) => {
  test("changes with its provider in mid-conversation, and the new one sees everything that was said", async () => {
    const other = createScriptedProvider("other", { large: ["two"] })
    const { session, model } = await openAgent([{ calls: [call] }, "one"], { isKept, tools: [add], plugins: [other] })
    await session.send("first")
    await session.useModel("other/large")
    const { text, accounting } = await session.send("second")
    expect([text, accounting.model, session.model]).toEqual(["two", "other/large", "other/large"])
    expect(model.callCount).toBe(2)
    const seen = other.models["large"]?.requests[0]?.messages ?? []
    expect(seen).toEqual(session.history().slice(0, 5))
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("changes from the next model call on when a turn runs, and stays changed", async () => {
    const gate = createGate()
    const other = createScriptedProvider("other", { large: ["from the other", "again"] })
    const script = [() => ({ gate: gate.pass(), calls: [call] })]
    const { session } = await openAgent(script, { isKept, tools: [add], plugins: [other] })
    const sent = session.send("first")
    await gate.reached
    await session.useModel("other/large")
    gate.open()
    expect((await sent).text).toBe("from the other")
    expect((await session.send("second")).text).toBe("again")
    expect((await session.state()).model).toBe("other/large")
  })

  test("that nobody knows is refused with the providers there are, and the old one stays", async () => {
    const { session } = await openAgent(["one"], { isKept })
    await expect(session.useModel("scriptd/model")).rejects.toMatchObject({
      code: "unknown_model",
      message: expect.stringContaining("Did you mean scripted"),
    })
    for (const [id, fix] of [
      ["foo", /Known providers: .*scripted.*\. A model is written PROVIDER\/NAME\.$/],
      ["scripted", /^"scripted" is a provider and names no model\. Write scripted\/MODEL\.$/],
    ] as const) {
      await expect(session.useModel(id)).rejects.toThrow(fix)
    }
    expect((await session.send("hi")).text).toBe("one")
  })
})

test("a choice of a model that cannot be kept is refused, and the old model stays", async () => {
  const gate = createGate()
  const plugins = [createScriptedProvider("other", { large: [] })]
  const { session, folder } = await openAgent([() => ({ gate: gate.pass(), text: "one" })], { isKept: true, plugins })
  const again = [createScriptedProvider("other", { large: [] })]
  const there = await openScripted(createScriptedModel([]), { isKept: true, folder, plugins: again, takesWork: false })
  const sent = session.send("a")
  await gate.reached
  const other = await there.runtime.openSession(session.id)
  await expect(other.useModel("other/large")).rejects.toMatchObject({ code: "session_busy" })
  expect(other.model).toBe(session.model)
  gate.open()
  await sent
})

test("a model that another process chooses is the session's here, too, from the next turn on", async () => {
  const here = createScriptedProvider("other", { large: ["two"] })
  const { session, folder } = await openAgent(["one"], { isKept: true, plugins: [here] })
  await session.send("a")
  const plugins = [createScriptedProvider("other", { large: [] })]
  const there = await openScripted(createScriptedModel([]), { isKept: true, folder, plugins })
  await (await there.runtime.openSession(session.id)).useModel("other/large")
  const { text, accounting } = await session.send("b")
  expect([text, accounting.model, session.model]).toEqual(["two", "other/large", "other/large"])
})

test("the model of a reopened session is the one it had", async () => {
  const plugins = [createScriptedProvider("other", { large: ["two"] })]
  const first = await openAgent(["one"], { isKept: true, plugins })
  await first.session.send("a")
  await first.session.useModel("other/large")
  await first.runtime.close()
  const again = [createScriptedProvider("other", { large: ["three"] })]
  const { runtime } = await openScripted(createScriptedModel([]), {
    isKept: true,
    folder: first.folder,
    plugins: again,
  })
  const session = await runtime.openSession(first.session.id)
  expect(session.model).toBe("other/large")
  expect((await session.send("b")).text).toBe("three")
  expect(session.history().map(textOf)).toEqual(["a", "one", "b", "three"])
})

const picky = definePlugin({
  kind: "tool",
  name: "picky",
  tools: [say],
  modelRequirements: ["large*"],
  systemInstructions: "Say with care.",
})

test("004-21: a plugin that needs another model is offered to no model that does not meet it", async () => {
  const other = createScriptedProvider("other", { large: ["two"] })
  const { session, model, runtime } = await openAgent(["one", "three"], { tools: [add], plugins: [other, picky] })
  await session.send("first")
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["add"])
  await session.useModel("other/large")
  await session.send("second")
  expect(other.models["large"]?.requests[0]?.tools.map(({ name }) => name).toSorted()).toEqual(["add", "say"])
  await session.useModel(runtime.model)
  await session.send("third")
  expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(["add"])
})

test("the instructions and prompts of such a plugin reach no model that does not meet it either", async () => {
  const other = createScriptedProvider("other", { large: ["two"] })
  const wordy = definePlugin({ ...picky, enrichPrompt: (prompt: string) => ({ prompt: `${prompt} +care` }) })
  const { session, model, runtime } = await openAgent(["one"], { plugins: [other, wordy] })
  const large = await runtime.createSession({ model: "other/large" })
  await session.send("a")
  await large.send("b")
  expect(model.requests[0]).toMatchObject({ system: "", messages: [userMessage("a")] })
  const [asked] = other.models["large"]?.requests ?? []
  expect(asked).toMatchObject({ system: `${THRESHOLD}\n\nSay with care.`, messages: [userMessage("b +care")] })
})

test("004-45: what is skipped for its model is listed with the reason, and welcome once a session uses such a model", async () => {
  const other = createScriptedProvider("other", { large: ["two"] })
  const { runtime } = await openAgent([], { plugins: [other, picky] })
  expect(runtime.plugins.skipped()).toEqual([
    {
      name: "picky",
      reason: "model_requirement",
      message: "The picky plugin is off: it is for large*, and not for scripted/model. Without it there is no say.",
    },
  ])
  const session = await runtime.createSession({ model: "other/large" })
  expect(runtime.plugins.skipped()).toEqual([])
  expect(session.tools().map(({ name }) => name)).toEqual(["say"])
})

test("004-07: a session has its own history, model, tools, instructions and accounts", async () => {
  const other = createScriptedProvider("other", { large: ["theirs"] })
  const { runtime, session, model } = await openAgent(["ours"], { tools: [add, say], plugins: [other] })
  const second = await runtime.createSession({ model: "other/large", tools: ["say"], instructions: "Be brief." })
  await session.send("to the first")
  await second.send("to the second")
  expect(session.history().map(textOf)).toEqual(["to the first", "ours"])
  expect(second.history().map(textOf)).toEqual(["to the second", "theirs"])
  const [asked] = other.models["large"]?.requests ?? []
  expect([asked?.system, asked?.tools.map(({ name }) => name)]).toEqual([`Be brief.\n\n${THRESHOLD}`, ["say"]])
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["add", "say"])
  expect([session.turns().length, second.turns()[0]?.model]).toEqual([1, "other/large"])
})

test("a session offers the tools that it names, by their own name or by their plugin's", async () => {
  const plugins = [definePlugin({ kind: "tool", name: "talk", tools: [say] })]
  const calls = [call]
  const { runtime, session } = await openAgent([{ calls }, "done"], {
    tools: [add],
    plugins,
    session: { tools: ["talk"] },
  })
  await session.send("go")
  expect(JSON.stringify(session.history()[2])).toContain("There is no tool add in this session.")
  const both = await runtime.createSession({ tools: ["add", "talk"] })
  expect(both.tools().map(({ name }) => name)).toEqual(["add", "say"])
  expect((await runtime.createSession({ tools: [] })).tools()).toEqual([])
})

test("004-18: the model is told what the configuration, the session and the exposed plugins say, and no other", async () => {
  const plugin = { kind: "tool", tools: [], systemInstructions: () => "From a plugin." } as const
  const { runtime, session, model } = await openAgent(["one", "two"], {
    agent: { instructions: "From the configuration." },
    session: { instructions: "From the session." },
    plugins: [definePlugin({ ...plugin, name: "speaker" })],
  })
  await session.send("a")
  await runtime.plugins.unexpose("speaker")
  await session.send("b")
  expect(model.requests.map(({ system }) => system)).toEqual([
    "From the configuration.\n\nFrom the session.\n\nFrom a plugin.",
    "From the configuration.\n\nFrom the session.",
  ])
})

test("files go to the model as parts of the message, with words or without", async () => {
  const { session, model } = await openAgent(["a dot", "a dot again"])
  const file = { type: "file", mediaType: "image/png", name: "dot.png", source: { data: "iVBORw0KGgo=" } } as const
  await session.send("What is it?", { files: [file] })
  await session.send("", { files: [file] })
  expect(model.requests[1]?.messages.filter(({ role }) => role === "user")).toEqual([
    { role: "user", parts: [{ type: "text", text: "What is it?" }, file] },
    { role: "user", parts: [file] },
  ])
})
