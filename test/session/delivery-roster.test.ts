import { expect, test } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { GcPlugin } from "../../src/plugin/gc-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { openReporting, starts, tasksOf, waitForEnds } from "../support/session/reporting.ts"

const OFF = { reports: { enabled: false } } as const

/** Keeps nothing but the first and the last message. */
const forgetful: GcPlugin = definePlugin({
  kind: "gc",
  name: "forgetful",
  shouldCollect: () => ({ isDue: false }),
  collect: (messages) => ({
    messages: [...messages.slice(0, 1), ...messages.slice(-1)],
    removedMessages: messages.length - 2,
    summary: "forgot",
  }),
})

test("C12: after context collection the model still knows its live tasks", async () => {
  const agent = await openReporting([starts("bread", "soup"), "They run.", "I know."], OFF)
  const { session } = agent
  await session.send("cook")
  const [bread = "", soup = ""] = await tasksOf(agent)
  ;(await agent.gated.call(2)).finish("a pot of soup")
  await waitForEnds(agent, (await tasksOf(agent)).slice(1))
  session.setGc(forgetful)
  await session.collect()
  const roster = session
    .history()
    .map(textOf)
    .find((text) => text.includes("that still run"))
  expect(roster).toContain(`- task ${bread} ("bread"): running`)
  expect(roster).not.toContain(soup)
  await session.send("what is going on?")
  expect(agent.model.requests.at(-1)?.messages.map(textOf).join("\n")).toContain(`- task ${bread} ("bread")`)
  expect(findHistoryProblems(session.history())).toEqual([])
})

test("a roster of before gives way to the next one, and goes when nothing lives any more", async () => {
  const agent = await openReporting([starts("bread"), "It runs."], OFF)
  const { session } = agent
  const rosters = (): number => session.history().filter((message) => textOf(message).includes("that still run")).length
  await session.send("cook")
  session.setGc({ ...forgetful, collect: (messages) => ({ messages, removedMessages: 1, summary: "kept all" }) })
  await session.collect()
  await session.collect()
  expect(rosters()).toBe(1)
  ;(await agent.gated.call(1)).finish("a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  await session.collect()
  expect(rosters()).toBe(0)
})
