import { describe, expect, test } from "vitest"
import { callsOf, type Message, userMessage } from "../../src/plugin/message.ts"
import { APIS, createWire, MODELS, toRequest } from "../support/models/wire.ts"

const LEGAL = /"name":"([^"]*)"/g

const toTool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: "object" } })

describe.each(APIS)("over the %s API", (api) => {
  test("a tool with a dot in its name is offered without the dot, called, and known by its own name", async () => {
    const { mock, connect, requests } = await createWire()
    mock.on({ userMessage: "look" }, { toolCalls: [{ id: "call_a", name: "tasks_get", arguments: "{}" }] })
    mock.on({ userMessage: "again" }, { content: "Good." })
    const model = await connect(MODELS[api])
    const tools = [toTool("tasks.get"), toTool("read")]
    const asked = userMessage("look")
    const { message } = await model.generate(toRequest([asked], { tools }))
    expect(callsOf(message).map(({ tool }) => tool)).toEqual(["tasks.get"])

    const result: Message = {
      role: "tool",
      parts: [{ type: "result", callId: "call_a", tool: "tasks.get", isError: false, content: [] }],
    }
    await model.generate(toRequest([asked, message, result, userMessage("again")], { tools }))
    const names = requests.map(({ body }) => [...JSON.stringify(body).matchAll(LEGAL)].map(([, name]) => name))
    expect(names[0]).toEqual(["tasks_get", "read"])
    expect(names.flat().filter((name) => name?.includes("."))).toEqual([])
  })

  test("two tools whose names differ only in a dot are kept apart", async () => {
    const { mock, connect } = await createWire()
    const toolCalls = ["tasks_get", "tasks_get_2"].map((name, index) => ({
      id: `call_${index}`,
      name,
      arguments: "{}",
    }))
    mock.on({ userMessage: "look" }, { toolCalls })
    const tools = [toTool("tasks.get"), toTool("tasks_get")]
    const { message } = await (await connect(MODELS[api])).generate(toRequest([userMessage("look")], { tools }))
    expect(callsOf(message).map(({ tool }) => tool)).toEqual(["tasks_get", "tasks.get"])
  })
})
