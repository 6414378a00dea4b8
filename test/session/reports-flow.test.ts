import { describe, expect, test } from "vitest"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { lastSaid, PLACES } from "../support/session/open-agent.ts"
import {
  eventsOf,
  notificationsOf,
  openReporting,
  starts,
  tasksOf,
  waitForReports,
} from "../support/session/reporting.ts"

describe.each(PLACES)("an agent that reports by itself, %s", (_, isKept) => {
  test("tells what a task came to without being asked", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", "The bread is ready.", "Nothing new."], { isKept })
    const { session, gated, model } = agent
    await session.send("bake")
    const call = await gated.call(1)
    call.finish("a brown loaf")
    expect(await waitForReports(agent, 1)).toEqual(["The bread is ready."])
    const [id] = await tasksOf(agent)
    expect(lastSaid(model, 2)).toContain(
      `Task ${id} ("bread"): completed.\n| Summary: a brown loaf\n[End of the results.]`,
    )
    const [published] = eventsOf(agent, "report.published")
    expect(published?.report).toMatchObject({
      channel: "answer",
      done: true,
      proactive: true,
      taskIds: [id],
      groupId: null,
    })
    expect(published?.report.messageId).toMatch(/^report_[0-9a-f]{12}$/)
    await session.send("and now?")
    expect(lastSaid(model, 3)).toBe("and now?")
    expect(findHistoryProblems(session.history())).toEqual([])
    expect(notificationsOf(agent)).toEqual([])
  })
})
