import { describe, expect, test } from "vitest"
import { z } from "zod"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import { createLanguageModel, toTextParts } from "../support/models/language-model.ts"
import { lastSaid, openAgent, openScripted, PLACES, resultsOf, resultText } from "../support/session/open-agent.ts"
import { add, say } from "../support/session/test-tools.ts"

const delegate = defineTool({
  name: "delegate",
  description: "Lets another do it.",
  input: z.object({ tools: z.array(z.string()).optional() }),
  async run({ tools }, { sessions }) {
    const child = await sessions.createChild({ name: "helper", ...(tools && { tools }) })
    return (await child.send("do it")).text
  },
})

/** A tool of one name that tells whose it is. */
function createBake(owner: string, more: Partial<Tool> = {}): Tool {
  const { background = { mode: "never" } } = more
  return defineTool({
    name: "bake",
    description: `Bakes for ${owner}.`,
    input: z.object({}),
    background,
    run: async () => owner,
  })
}

const bakes = { calls: [{ tool: "bake" }] }

describe.each(PLACES)("a model that is an object, of one session, %s", (_, isKept) => {
  test("answers that session, and no other one finds it by its id", async () => {
    const { runtime, session } = await openAgent(["of the runtime"], { isKept })
    const { model } = createLanguageModel(toTextParts("of the SDK"))
    const mine = await runtime.createSession({ model: createScriptedModel(["mine"], { id: "own/model" }) })
    const yours = await runtime.createSession({ model: createScriptedModel(["yours"], { id: "own/model" }) })
    const sdk = await runtime.createSession({ model })
    const texts = await Promise.all([mine, yours, sdk, session].map(async (one) => (await one.send("go")).text))
    expect(texts).toEqual(["mine", "yours", "of the SDK", "of the runtime"])
    expect([mine.model, sdk.model]).toEqual(["own/model", "own/m"])
    await expect(runtime.createSession({ model: "own/model" })).rejects.toMatchObject({ code: "unknown_model" })
    await expect(runtime.createSession({ model: 42 as never })).rejects.toMatchObject({ code: "invalid_input" })
    await expect(mine.useModel(42 as never)).rejects.toMatchObject({ code: "invalid_input" })
  })

  test("answers its subagents, too", async () => {
    const { runtime } = await openAgent([], { isKept, tools: [delegate] })
    const model = createScriptedModel([{ calls: [{ tool: "delegate" }] }, "from below", "done"], { id: "own/model" })
    const session = await runtime.createSession({ model })
    expect((await session.send("go")).text).toBe("done")
    expect(resultsOf(session.history()).map(resultText)).toEqual(["from below"])
  })
})

describe.each(PLACES)("tools of one session, %s", (_, isKept) => {
  test("are offered to it alone, beside those that it names, and two sessions may have the same name", async () => {
    const {
      runtime,
      session: other,
      model,
    } = await openAgent([bakes, "a", bakes, "b", "c"], { isKept, tools: [add, say] })
    const mine = await runtime.createSession({ tools: ["add", createBake("me")] })
    const yours = await runtime.createSession({ tools: [createBake("you")] })
    await mine.send("go")
    await yours.send("go")
    await other.send("go")
    const offered = model.requests.map(({ tools }) => tools.map(({ name }) => name))
    expect(offered).toEqual([["add", "bake"], ["add", "bake"], ["bake"], ["bake"], ["add", "say"]])
    expect([mine, yours].map((one) => resultsOf(one.history()).map(resultText))).toEqual([["me"], ["you"]])
  })

  test("are heard of by no other session, also where tools for tasks list what can be started", async () => {
    const secret = createBake("a secret client", { background: { mode: "after" } })
    const { runtime, session, model } = await openAgent(["a", "b"], {
      isKept,
      tools: [say],
      plugins: [createBackgroundPlugin()],
    })
    await runtime.createSession({ tools: [secret] })
    await session.send("go")
    expect(JSON.stringify(model.requests[0])).not.toMatch(/bake|secret client/)
  })

  test("are its subagents', too, and only those that are named", async () => {
    const script = [{ calls: [{ tool: "delegate", input: { tools: ["bake"] } }] }, bakes, "below", "done"]
    const { runtime, model } = await openAgent(script, { isKept, tools: [delegate] })
    const session = await runtime.createSession({ tools: ["delegate", createBake("me"), { ...say, name: "tell" }] })
    await session.send("go")
    const below = model.requests[1]?.tools.map(({ name }) => name)
    expect(below).toEqual(["bake"])
    expect(lastResult(model.requests[2]?.messages ?? [])).toBe("me")
  })

  test("go with the session when it is closed", async () => {
    const { runtime } = await openAgent([], { isKept })
    const session = await runtime.createSession({ tools: [createBake("me")] })
    expect(runtime.plugins.tools()).toHaveLength(1)
    await session.close()
    expect(runtime.plugins.tools()).toEqual([])
    await expect(runtime.createSession({ model: "no/such", tools: [createBake("me")] })).rejects.toThrow("no/such")
    expect(runtime.plugins.tools()).toEqual([])
  })

  test("that are not well formed are refused", async () => {
    const { runtime } = await openAgent([], { isKept })
    const creating = runtime.createSession({ tools: [{ ...add, name: "no spaces" }] })
    await expect(creating).rejects.toMatchObject({ code: "invalid_input" })
  })
})

test("a session that is opened in another process goes on with the objects that it is given again", async () => {
  const { runtime, session: first, folder } = await openAgent(["one"], { isKept: true })
  await first.send("hello")
  await runtime.close()
  const { runtime: second } = await openScripted(createScriptedModel([]), { isKept: true, folder })
  const model = createScriptedModel([bakes, "two", "three"], { id: "own/model" })
  const session = await second.openSession(first.id, undefined, { model, tools: [createBake("me")] })
  expect((await session.send("go")).text).toBe("two")
  expect(resultsOf(session.history()).map(resultText)).toEqual(["me"])
  expect(lastSaid(model, 0)).toBe("go")
  expect((await session.state()).model).toBe("own/model")
})

function lastResult(messages: Parameters<typeof resultsOf>[0]): string {
  return resultText(resultsOf(messages).at(-1))
}
