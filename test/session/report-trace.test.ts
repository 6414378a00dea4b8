import { expect, test } from "vitest"
import { openReporting, starts, tasksOf, waitForReports } from "../support/session/reporting.ts"
import { recordSpans } from "../support/session/spans.ts"
import { PLACES } from "../support/session/open-agent.ts"

const TRACE = "0123456789abcdef0123456789abcdef"
const OTHER = "fedcba9876543210fedcba9876543210"

test.each(PLACES)("the report runs in the trace of the task it tells of (%s)", async (_, isKept) => {
  const spans = recordSpans({ hasContext: false })
  const script = [starts("dig"), "It runs.", starts("wash"), "Dug.", "Washed."]
  const agent = await openReporting(script, { isKept })
  await agent.session.send("dig", { traceId: TRACE })
  ;(await agent.gated.call(1)).finish("a hole")
  ;(await agent.gated.call(2)).finish("clean")
  await waitForReports(agent, 2)
  await agent.session.settled()
  const { items } = await agent.runtime.tasks.list({ session: agent.session.id })
  expect(items.length).toBe(isKept ? 5 : 2)
  expect(new Set(items.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
  const turns = spans.all().filter(({ name }) => name === "invoke_agent main")
  expect(turns).toHaveLength(3)
  expect(new Set(spans.all().map((span) => span.spanContext().traceId))).toEqual(new Set([TRACE]))
})

test("a report about tasks of several traces runs in that of the first", async () => {
  const script = [starts("dig"), "It runs.", starts("wash"), "It runs too.", "Both."]
  const agent = await openReporting(script, { reports: { enabled: false } })
  await agent.session.send("dig", { traceId: TRACE })
  await agent.session.send("wash", { traceId: OTHER })
  for (const number of [1, 2]) (await agent.gated.call(number)).finish("done")
  for (const id of await tasksOf(agent)) await agent.runtime.tasks.result(id, { waitMs: 30_000 })
  agent.session.enableReports()
  await waitForReports(agent, 1)
  await agent.session.settled()
  const [report] = (await agent.runtime.tasks.list({ session: agent.session.id, kinds: ["turn"] })).items
  expect(report).toMatchObject({ title: expect.stringContaining("report"), traceId: TRACE })
})
