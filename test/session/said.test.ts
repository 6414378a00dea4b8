import { describe, expect, test } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"
import { openSubagents, spawn } from "../support/session/open-subagents.ts"
import { openReporting, starts, waitForReports } from "../support/session/reporting.ts"

const noting = definePlugin({
  kind: "tool",
  name: "noting",
  tools: [],
  enrichPrompt: (prompt: string) => ({ prompt: `${prompt}\n[Note of the system, not of the person: it rains.]` }),
})

const REPORTS = ["bake", "It runs.", "The bread is ready."]

describe.each(PLACES)("what was said, %s", (_, isKept) => {
  test("is the person's own words, without the notes that the model reads with them", async () => {
    const { session } = await openAgent(["Hello."], { isKept, plugins: [noting] })
    await session.send("hi")
    expect(await session.recall({ count: 2 })).toEqual([
      { by: "person", text: "hi" },
      { by: "agent", text: "Hello." },
    ])
  })

  test("is nobody's where the agent reports by itself", async () => {
    const agent = await openReporting([starts("bread"), ...REPORTS.slice(1)], { isKept })
    await agent.session.send("bake")
    const call = await agent.gated.call(1)
    call.finish("a brown loaf")
    await waitForReports(agent, 1)
    expect((await agent.session.recall({ count: 10 })).map(({ text }) => text)).toEqual(REPORTS)
  })

  test("ends where the conversation began anew", async () => {
    const { session } = await openAgent(["one", "two"], { isKept })
    await session.send("first")
    await session.reset()
    await session.send("second")
    expect((await session.recall({ count: 10 })).map(({ text }) => text)).toEqual(["second", "two"])
  })
})

test("a report is told from other turns by what it is about", async () => {
  const agent = await openReporting([starts("bread"), ...REPORTS.slice(1)])
  await agent.session.send("bake")
  const call = await agent.gated.call(1)
  call.finish("a brown loaf")
  await waitForReports(agent, 1)
  const { items } = await agent.runtime.tasks.list({ kinds: ["turn"] })
  expect(items.map(({ title }) => title)).toEqual(["report about bread", "bake"])
  expect((await agent.runtime.sessions.list()).items).toMatchObject([{ title: "bake" }])
})

test("a subagent's turn is called by its task, without what was handed over with it", async () => {
  const { session, runtime } = await openSubagents({
    isKept: true,
    main: [spawn("Look at the sky.", { context: "It is grey." }), "Done."],
    below: ["Looked."],
  })
  await session.send("go")
  const { items } = await runtime.tasks.list({ kinds: ["turn"] })
  expect(items.map(({ title }) => title)).toEqual(["Look at the sky.", "go"])
})
