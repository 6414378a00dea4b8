import { expect, test } from "vitest"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { reportsOf, waitForReports } from "../support/session/reporting.ts"
import { launch, openDelegation, resume } from "../support/background/open-delegation.ts"
import type { OpenBackground } from "../support/background/open-background.ts"

let agent: OpenBackground

/** Asks the same agent for more, whatever the request is. */
function* resumeForEver(): Generator<ScriptStep> {
  yield launch("count")
  yield "It works."
  const more = resume(() => agent, 1, "And one more?")
  for (;;) {
    yield (request) => {
      if (request.messages.at(-1)?.role === "tool") return "Asked."
      return typeof more === "function" ? more(request) : more
    }
  }
}

test("a loop of report and follow-up is bounded by hops, as one of report and start is", async () => {
  const reports = { enabled: true, maxHops: 2, maxConsecutiveWakes: 100 }
  agent = await openDelegation(resumeForEver(), ["One.", "Two.", "Three.", "Four."], { reports })
  await agent.session.send("begin")
  await waitForReports(agent, 2)
  await agent.session.reported()
  expect(resultText(resultsOf(agent.session.history()).at(-1))).toContain("this is report 2 of 2 that followed")
  expect(reportsOf(agent)).toHaveLength(2)
  expect(await agent.task(1)).toMatchObject({ status: "completed", resumeCount: 1, metadata: { hops: 1 } })
})
