import { describe, expect, test } from "vitest"
import { createClarificationPlugin } from "../../src/builtin/clarification/clarification-plugin.ts"
import type { PersonChannel, Question } from "../../src/plugin/person-port.ts"
import type { WaitRecord } from "../../src/task/wait.ts"
import type { OpenBackground } from "../support/background/open-background.ts"
import { call } from "../support/background/open-background.ts"
import { launch, openDelegation } from "../support/background/open-delegation.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import { echo } from "../support/tools.ts"

const write = { ...echo, name: "write", effects: ["write"] as const }
const ASKS = call("request_clarification", {
  context: "The door",
  questions: [{ question: "Which colour?", options: ["red", "blue"], default: "red" }],
})

/** A person at the terminal, who says yes to everything that is put before them. */
function createPerson() {
  const shown: Question[] = []
  const person: PersonChannel = {
    name: "terminal",
    async ask(question) {
      shown.push(question)
      return { isAnswered: true, value: "yes", by: "terminal" }
    },
  }
  return { person, shown }
}

async function openWaiting({ runtime }: OpenBackground): Promise<WaitRecord> {
  return eventually("something waits in the inbox", async () => {
    const [wait] = await runtime.engine.store.waits({ isOpen: true })
    return wait
  })
}

describe.each([
  ["kept", true],
  ["in memory", false],
] as const)(
  "D8. A background agent that needs an approval parks it in an inbox with an expiry; it does not hang for ever, and is not silently denied (%s)",
  (_, isKept) => {
    const open = (below: Parameters<typeof openDelegation>[1], background = {}, approvalExpirySeconds = 60) => {
      const { person, shown } = createPerson()
      return openDelegation([launch("paint"), "It is being painted."], below, {
        isKept,
        tools: [write],
        plugins: [createClarificationPlugin()],
        person,
        permissions: { rules: [], approvalExpirySeconds },
        background,
      }).then((agent) => ({ ...agent, shown }))
    }

    test("an approval", async () => {
      const agent = await open([call("write", { value: "paint" }), "Waiting.", "Painted."])
      await agent.session.send("paint the door")
      const wait = await openWaiting(agent)
      expect(wait).toMatchObject({ reason: "approval", expiresAt: expect.any(Number), onExpiry: false })
      expect(agent.shown.filter(({ text }) => text.includes("Allow write"))).toEqual([])
      await agent.runtime.tasks.answer(wait.id, true, "ada")
      expect(await agent.ended(1)).toMatchObject({ status: "completed" })
      const written = (await agent.runtime.tasks.list({ tool: "write" })).items
      expect(written).toMatchObject([{ status: "completed" }])
    })

    test("an approval that nobody gives: the call is not made, and the agent is told why", async () => {
      const agent = await open([call("write", { value: "paint" }), "Waiting.", "It may not be."], {}, 0.05)
      await agent.session.send("paint the door")
      expect(await agent.ended(1)).toMatchObject({ status: "completed" })
      const [written] = (await agent.runtime.tasks.list({ tool: "write" })).items
      expect(written).toMatchObject({ status: "cancelled", run: 1, startedAt: null })
      expect(JSON.stringify(agent.asked().at(-1)?.messages.at(-1))).toMatch(/cancelled.*nobody/)
    })

    test("a question, whose answer the agent goes on with", async () => {
      const agent = await open([ASKS, "Painted."], { maxConcurrentTasks: 1 })
      await agent.session.send("paint the door")
      const wait = await openWaiting(agent)
      expect(wait.question).toMatchObject({
        text: expect.stringContaining("Without an answer: red."),
        detail: "The door",
      })
      expect(agent.shown).toEqual([])
      await agent.runtime.tasks.answer(wait.id, "blue", "ada")
      expect(await agent.ended(1)).toMatchObject({ status: "completed" })
      expect(resultText(resultsOf(agent.asked().at(-1)?.messages ?? [])[0])).toContain("blue")
    })

    test("a question that nobody answers, with its default", async () => {
      const agent = await open([ASKS, "Painted."], { questionExpirySeconds: 0.05 })
      await agent.session.send("paint the door")
      expect(await agent.ended(1)).toMatchObject({ status: "completed" })
      expect(resultText(resultsOf(agent.asked().at(-1)?.messages ?? [])[0])).toContain("red")
    })
  },
)
