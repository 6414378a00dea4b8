import { expect, test } from "vitest"
import { readUserText } from "../../src/builtin/offline/user-text.ts"
import { toSaidText } from "../../src/session/results/steering-messages.ts"
import { ENDED_MESSAGE, SAID_MESSAGE } from "../../src/session/subagent/news.ts"

const toParts = (...texts: readonly string[]) => texts.map((text) => ({ type: "text", text }) as const)

test("the offline model follows what was said to a working agent, and not the sentence that points to it", () => {
  const said = toSaidText([{ id: "1", text: "say the second thing" }])
  expect(readUserText(toParts(said, SAID_MESSAGE)).words).toBe("say the second thing")
})

test("the offline model follows nothing in the sentence that tells an agent that its tasks have ended", () => {
  expect(readUserText(toParts(ENDED_MESSAGE))).toMatchObject({ words: "", results: "" })
})
