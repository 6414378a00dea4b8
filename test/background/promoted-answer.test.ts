import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { echo } from "../support/tools.ts"
import { type BackgroundOptions, call } from "../support/background/open-background.ts"
import { openMeanwhile } from "../support/background/open-meanwhile.ts"

/** What the model reads when its call has moved to the background. */
async function promote(options: BackgroundOptions = {}): Promise<{ readonly text: string; readonly id: string }> {
  const clock = createManualClock()
  const agent = await openMeanwhile([call("gated"), "It goes on."], { clock, ...options })
  const turn = agent.session.send("go")
  await agent.gated.call(1)
  clock.advance(10_000)
  await turn
  const [answer] = agent.answers()
  return { text: (answer?.["text"] ?? "") as string, id: (await agent.task(1)).id }
}

test("the answer of a promoted call says what happened, what can be done, and that the result comes by itself", async () => {
  const { text, id } = await promote()
  expect(text).toContain(`It still runs after 10 s and goes on in the background as task ${id}.`)
  expect(text).toContain("It is stopped when it has run for 300 s. Its result comes back to you by itself")
  for (const tool of ["get_task", "cancel_task", "wait_for"]) expect(text).toContain(tool)
})

test("a session without the tools for tasks is not told to use them", async () => {
  const { text, id } = await promote({ session: { tools: ["gated"] } })
  expect(text).toContain(`in the background as task ${id}. Its result comes back by itself`)
  expect(text).not.toContain("get_task")
})

test("a plugin that fails in `tellPromoted` does not disturb a promotion", async () => {
  const broken = definePlugin({
    kind: "tool",
    name: "broken",
    tools: [{ ...echo, name: "broken_echo" }],
    tellPromoted() {
      throw new Error("no words")
    },
  })
  const { text, id } = await promote({ plugins: [broken] })
  expect(text).toContain(`as task ${id}`)
})
