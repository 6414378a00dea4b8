import { expect, test } from "vitest"
import { z } from "zod"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { Question } from "../../src/plugin/person-port.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { openScripted, PLACES } from "../support/session/open-agent.ts"

test("what a person allowed a session ends with it", async () => {
  const asked: Question[] = []
  const person = {
    name: "test",
    async ask(question: Question) {
      asked.push(question)
      const value = question.options?.find((option) => option.startsWith("always")) ?? "yes"
      return { isAnswered: true, value, by: "test" } as const
    },
  }
  const remove = defineTool({
    name: "remove",
    description: "Removes.",
    input: z.object({}),
    effects: ["delete"],
    run: async () => "removed",
  })
  const call = { calls: [{ tool: "remove" }] }
  const model = createScriptedModel([call, "One.", call, "Two.", call, "Three."])
  const { runtime } = await openScripted(model, { isKept: true, tools: [remove], permissions: {}, person })
  const session = await runtime.createSession()
  await session.send("a")
  await session.send("b")
  expect(asked).toHaveLength(1)
  await session.close()
  const again = await runtime.openSession(session.id)
  await again.send("c")
  expect(asked).toHaveLength(2)
})

test.each(PLACES)("no session is created once the runtime is closed, %s", async (_, isKept) => {
  const { runtime } = await openScripted(createScriptedModel([]), { isKept })
  await runtime.close()
  await expect(runtime.createSession()).rejects.toMatchObject({ code: "closed" })
})
