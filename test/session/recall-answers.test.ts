import { expect, test } from "vitest"
import type { Message } from "../../src/plugin/message.ts"
import { recallAnswers } from "../../src/session/turn/recall-answers.ts"
import type { TurnScope } from "../../src/session/turn/turn-scope.ts"
import type { OnCrash } from "../../src/task/step.ts"

const MESSAGE: Message = { role: "assistant", parts: [{ type: "call", id: "one", tool: "act", input: {} }] }

/** A turn that is continued, without a kept step of any of its calls. */
function createStepless(onCrash: OnCrash): TurnScope {
  const offered = { told: { name: "act" }, found: { tool: { onCrash } } }
  return {
    turn: { steps: async () => [] },
    services: { tools: { offers: () => [offered] } },
    conversation: { log: { data: { tools: null } }, model: { id: "scripted/model" } },
  } as unknown as TurnScope
}

test.each(["fail", "ask"] as const)(
  "a call without a record is not run again if its tool's onCrash is %s",
  async (onCrash) => {
    const { answers } = await recallAnswers(createStepless(onCrash), MESSAGE, 1)
    expect(JSON.stringify(answers.get("one"))).toContain("It was interrupted")
  },
)

test("a call without a record is run again when its tool says that it may be", async () => {
  expect((await recallAnswers(createStepless("retry"), MESSAGE, 1)).answers.size).toBe(0)
})
