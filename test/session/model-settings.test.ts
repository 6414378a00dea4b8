import { describe, expect, test } from "vitest"
import type { SendOptions } from "../../src/session/conversation/session.ts"
import { textOf } from "../../src/plugin/message.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { beginLife } from "../support/session/lives.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"
import { add, say } from "../support/session/test-tools.ts"
import { createFolder } from "../support/workplace.ts"

const call = { tool: "add", input: { a: 1, b: 2 } }

describe.each(PLACES)("how the model is asked, %s", (_, isKept) => {
  test("goes by the configuration, then by the session, then by the message", async () => {
    const { session, model } = await openAgent(["one", "two"], {
      isKept,
      agent: { temperature: 0.1, maxOutputTokens: 100 },
      session: {
        temperature: 0.2,
        providerOptions: { openai: { reasoningEffort: "low", user: "u" }, own: { a: 1 } },
      },
    })
    await session.send("first")
    await session.send("second", { temperature: 0.3, providerOptions: { openai: { reasoningEffort: "high" } } })
    expect(model.requests).toMatchObject([
      {
        temperature: 0.2,
        maxOutputTokens: 100,
        providerOptions: { openai: { reasoningEffort: "low", user: "u" }, own: { a: 1 } },
      },
      {
        temperature: 0.3,
        maxOutputTokens: 100,
        providerOptions: { openai: { reasoningEffort: "high", user: "u" }, own: { a: 1 } },
      },
    ])
  })

  test("toolChoice: the first answer must call the tool, and the next is free", async () => {
    const { session, model } = await openAgent([{ calls: [call] }, "Three.", { calls: [call] }, "Three."], {
      isKept,
      tools: [add, say],
    })
    await session.send("go", { toolChoice: { tool: "add" } })
    await session.send("go", { toolChoice: "required" })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      { tool: "add" },
      undefined,
      "required",
      undefined,
    ])
  })

  test("toolChoice: none holds for the whole turn, and for the whole session if it says so", async () => {
    const { session, model } = await openAgent(["a", "b"], { isKept, tools: [add], session: { toolChoice: "none" } })
    await session.send("go")
    await session.send("go", { toolChoice: "auto" })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["none", "auto"])
  })

  test("maxSteps: the last call of the message gets no tools", async () => {
    const { session, model } = await openAgent([{ calls: [call] }, "Enough."], { isKept, tools: [add] })
    const { text, accounting } = await session.send("go", { maxSteps: 2 })
    expect([text, accounting.modelCalls]).toEqual(["Enough.", 2])
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0])
  })

  test.each<[string, SendOptions, RegExp, string]>([
    ["a temperature that no model has", { temperature: 3 }, /temperature/, "invalid_input"],
    ["a limit of nothing", { maxOutputTokens: 0 }, /maxOutputTokens/, "invalid_input"],
    ["steps that are no number", { maxSteps: Number.NaN }, /maxSteps/, "invalid_input"],
    ["a choice nobody knows", { toolChoice: "always" as "auto" }, /toolChoice/, "invalid_input"],
    ["a tool that the session does not have", { toolChoice: { tool: "fly" } }, /the tool fly.*add/, "unknown_tool"],
  ])("%s is refused, and nothing is said", async (_name, options, message, code) => {
    const { session, runtime } = await openAgent(["a"], { isKept, tools: [add] })
    await expect(session.send("go", options)).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
    expect(session.history()).toEqual([])
    if ("toolChoice" in options && typeof options.toolChoice === "object") return
    await expect(runtime.createSession(options)).rejects.toMatchObject({ code: "invalid_input" })
  })
})

test("how the model is asked survives a crash, by the message and by the session", async () => {
  const folder = createFolder()
  const gate = createGate()
  const tools = [add]
  const first = await beginLife(folder, 1, { script: [{ calls: [call] }, () => ({ gate: gate.pass() })], tools })
  const session = await first.runtime.createSession({ maxOutputTokens: 70 })
  void session.send("go", { temperature: 0.7, toolChoice: "required", maxSteps: 9 }).catch(() => {})
  await gate.reached
  first.life.end()
  const second = await beginLife(folder, 2, { script: ["Three."], tools })
  const reopened = await second.runtime.openSession(session.id)
  await eventually("the turn goes on", () => reopened.history().map(textOf).includes("Three."))
  expect(second.model.requests[0]).toMatchObject({ temperature: 0.7, maxOutputTokens: 70 })
  expect(second.model.requests[0]).not.toHaveProperty("toolChoice")
})

test("a secret in the options is sent, and is not stored", async () => {
  const key = "sk-ant-REDACTED"
  const { session, model, runtime } = await openAgent(["a"], { isKept: true })
  const { turn } = await session.send("go", { providerOptions: { gateway: { apiKey: key } } })
  expect(model.requests[0]?.providerOptions).toEqual({ gateway: { apiKey: key } })
  expect(JSON.stringify((await runtime.tasks.get(turn ?? "")).task)).not.toContain(key)
})
