import { expect, test } from "vitest"
import { MANY_AT_ONCE, openReporting, tasksOf, textsOf, waitForReports } from "../support/session/reporting.ts"

/** More ends than one commit takes at once. */
const COUNT = 600
const HELD_UP_MS = 20

test("ends that a process writes one after the other, because it is held up, are told in one report", async () => {
  const agent = await openReporting(["Hello.", "All done.", "Too many reports."], { background: MANY_AT_ONCE })
  const { runtime, session, gated } = agent
  await session.send("Hello.")
  const call = { tool: "gated", input: {}, session: session.id }
  await Promise.all(Array.from({ length: COUNT }, () => runtime.tasks.start(call)))
  await gated.call(COUNT)
  let isHeldUp = false
  runtime.engine.bus.subscribe(({ about }) => {
    if (isHeldUp || about !== "session") return
    isHeldUp = true
    const until = performance.now() + HELD_UP_MS
    while (performance.now() < until);
  })
  for (const { finish } of gated.calls) finish("done")
  await waitForReports(agent, 1)
  await session.reported()
  expect(await waitForReports(agent, 1)).toEqual(["All done."])
  const told = textsOf(session).join("\n")
  const ids = await tasksOf(agent)
  expect(ids.filter((id) => told.split(`Task ${id} (`).length - 1 !== 1)).toEqual([])
  expect(ids).toHaveLength(COUNT)
})
