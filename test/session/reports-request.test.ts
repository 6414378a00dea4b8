import { createHash } from "node:crypto"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { JsonObject } from "../../src/base/json.ts"
import type { ReportRequest } from "../../src/session/report/report-request.ts"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import { handBack } from "../../src/plugin/tool-return.ts"
import { enableReports } from "../../src/session/report/enable-reports.ts"
import { openGrouping, spawns } from "./support/group-agent.ts"
import { lastSaid } from "./support/open-agent.ts"
import {
  eventsOf,
  notificationsOf,
  openReporting,
  type ReportingAgent,
  reportsOf,
  starts,
  tasksOf,
  textsOf,
  waitForEnds,
  waitForReports,
} from "./support/reporting.ts"
import { add } from "./support/test-tools.ts"

const OFF = { reports: { enabled: false } } as const

const CHEST = { digest: ["A chest."], facts: { depth: 3 }, artifacts: [], nextSteps: ["dig", "rest"], payload: null }

/** A tool that ends with all that a result can have, when the test says so. */
function createFinding(): { readonly tool: Tool; find(): void } {
  const { promise: isFound, resolve: find } = Promise.withResolvers<void>()
  const tool = defineTool({
    name: "finding",
    description: "Finds something.",
    input: z.object({}),
    background: { mode: "always" },
    title: () => "look for treasure",
    run: async () => {
      await isFound
      return handBack(CHEST)
    },
  })
  return { tool, find }
}

interface Requested {
  readonly agent: ReportingAgent
  readonly request: ReportRequest
}

/** A report of one task, written by the test. */
async function requestSingle(): Promise<Requested> {
  const requests: ReportRequest[] = []
  const { tool, find } = createFinding()
  const agent = await openReporting([{ calls: [{ tool: "finding" }] }, "It runs."], { ...OFF, tools: [tool] })
  await agent.session.send("find it", { traceId: "0123456789abcdef0123456789abcdef" })
  find()
  await waitForEnds(agent, await tasksOf(agent))
  const history = agent.session.history()
  enableReports(agent.session, {
    async generator(request) {
      requests.push(request)
      expect(agent.session.history()).toBe(history)
      return "I found a chest."
    },
  })
  await waitForReports(agent, 1)
  const [request] = requests
  if (!request) throw new Error("nothing was asked for")
  return { agent, request }
}

/** A report of a group, written by the test. */
async function requestGroup(more: JsonObject = {}): Promise<Requested> {
  const requests: ReportRequest[] = []
  const agent = await openGrouping([spawns(["north", "south"], { group: "walls", ...more }), "They run."], OFF)
  agent.session.enableReports({
    async generator(request) {
      requests.push(request)
      return "The walls stand."
    },
  })
  await agent.session.send("build")
  await agent.gated.call(2)
  for (const { input, finish } of agent.gated.calls) finish(`${input.name} is up`)
  await waitForReports(agent, 1)
  const [request] = requests
  if (!request) throw new Error("nothing was asked for")
  return { agent, request }
}

describe("what a report is asked to be made of", () => {
  test("001-18: names the task, the session, what it was to do, how long it took and since when it waits", async () => {
    const { agent, request } = await requestSingle()
    const [id] = await tasksOf(agent)
    expect(request).toMatchObject({
      subject: id,
      taskIds: [id],
      session: agent.session.id,
      description: '"look for treasure"',
      executionTimeMs: expect.any(Number),
      queuedAt: expect.any(Number),
      isGroupReport: false,
      groupId: null,
    })
  })

  test("001-19: goes on in the trace of its task", async () => {
    const { request } = await requestSingle()
    expect(request.traceId).toBe("0123456789abcdef0123456789abcdef")
  })

  test("001-20: has an id of its own, which the published message has too", async () => {
    const { agent, request } = await requestSingle()
    expect(request.messageId).toMatch(/^report_[0-9a-f]{12}$/)
    expect(eventsOf(agent, "report.published")[0]?.report.messageId).toBe(request.messageId)
  })

  test("001-21: holds the patch with digest, facts, artifacts and next steps", async () => {
    const { request } = await requestSingle()
    expect(request.patch).toMatchObject({ digest: ["A chest."], facts: { depth: 3 }, nextSteps: ["dig", "rest"] })
  })

  test("001-22: names the merge strategy", async () => {
    expect((await requestSingle()).request.mergeStrategy).toBe("append")
    expect((await requestGroup({ merge_strategy: "replace" })).request.mergeStrategy).toBe("replace")
  })

  test("001-23: holds what was said lately in short", async () => {
    const { request } = await requestSingle()
    expect(request.memorySummary).toMatchObject({
      turns: 1,
      recent: [
        { role: "user", text: "find it" },
        { role: "assistant", text: "It runs." },
      ],
    })
  })

  test("001-09: hands over a bounded summary instead of the conversation", async () => {
    const long = "x".repeat(50_000)
    const requests: ReportRequest[] = []
    const agent = await openReporting([starts("bread"), long, long], OFF)
    agent.session.enableReports({
      async generator(request) {
        requests.push(request)
        return "ready"
      },
    })
    await agent.session.send("bake")
    await agent.session.send(long)
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForReports(agent, 1)
    expect(JSON.stringify(requests[0]?.memorySummary).length).toBeLessThan(4_096)
  })

  test("001-24: holds what tools keep with the conversation", async () => {
    const agent = await openReporting(["Hello."], OFF)
    const { runtime, session: first } = agent
    await first.send("hello")
    const data = { notes: { colour: "red" } }
    const session = await runtime.openSession(await runtime.sessions.restore({ ...(await first.state()), data }))
    const asked = Promise.withResolvers<ReportRequest>()
    session.enableReports({
      async generator(request) {
        asked.resolve(request)
        return "ready"
      },
    })
    await runtime.tasks.start({ tool: "gated", input: {}, session: session.id })
    ;(await agent.gated.call(1)).finish("a loaf")
    expect((await asked.promise).toolContext).toEqual(data)
    await session.reported()
  })

  test("001-25: names the state of the conversation that it is about", async () => {
    const { agent, request } = await requestSingle()
    expect(request.contextVersion).toBe(4)
    const before = agent.session.history().slice(0, 4)
    expect(request.contextHash).toBe(createHash("sha256").update(JSON.stringify(before)).digest("hex"))
  })

  test("001-26: of a group says so, with every member and its patch", async () => {
    const { agent, request } = await requestGroup()
    expect(request.isGroupReport).toBe(true)
    expect(request.taskIds).toEqual(await tasksOf(agent))
    expect(request.combinedPatches.map(({ payload }) => payload)).toEqual(["north is up", "south is up"])
    expect(request.patch.digest).toEqual(["north is up", "south is up"])
  })

  test("001-41: of a group is about group_ and its id, and says how many tasks it has", async () => {
    const { request } = await requestGroup()
    expect(request.subject).toBe(`group_${request.groupId}`)
    expect(request.description).toBe('Task group "walls" (2 tasks)')
  })

  test("001-54: has every field, whatever the task said", async () => {
    const { request } = await requestSingle()
    expect(Object.values(request).every((value) => value !== undefined)).toBe(true)
  })
})

describe("a generator of one's own", () => {
  test("001-28: writes the report instead of the agent, and both are in the conversation", async () => {
    const { agent } = await requestSingle()
    expect(reportsOf(agent)).toEqual(["I found a chest."])
    expect(agent.model.callCount).toBe(2)
    expect(textsOf(agent.session).slice(-2)).toEqual([expect.stringContaining("| A chest."), "I found a chest."])
    expect((await agent.session.trajectory.unconsumed()).size).toBe(0)
  })

  test("that fails leaves a plain notification, and the model hears of it with the next message", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", "I see."], OFF)
    agent.session.enableReports({
      async generator() {
        throw new Error("out of paper")
      },
    })
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    await agent.session.reported()
    expect(notificationsOf(agent)).toEqual([expect.stringContaining("a loaf")])
    await agent.session.send("well?")
    expect(lastSaid(agent.model, -1)).toContain("| a loaf")
  })

  test("does not publish what the conversation was told meanwhile", async () => {
    const written = Promise.withResolvers<string>()
    const asked = Promise.withResolvers<void>()
    const agent = await openReporting([starts("bread"), "It runs.", "I see."], OFF)
    agent.session.enableReports({
      generator() {
        asked.resolve()
        return written.promise
      },
    })
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await asked.promise
    await agent.session.send("well?")
    expect(lastSaid(agent.model, -1)).toContain("| a loaf")
    written.resolve("The bread is ready.")
    await agent.session.reported()
    expect(reportsOf(agent)).toEqual([])
  })
})

describe("the default report", () => {
  test("001-01: is a full turn with all tools", async () => {
    const script = [starts("bread"), "It runs.", { calls: [{ tool: "add", input: { a: 1, b: 2 } }] }, "It makes three."]
    const agent = await openReporting(script, { tools: [add] })
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    expect(await waitForReports(agent, 1)).toEqual(["It makes three."])
    expect(agent.model.requests[2]?.tools.map(({ name }) => name)).toEqual(["gated", "add"])
    expect(agent.session.turns().at(-1)).toMatchObject({ outcome: "completed", modelCalls: 2, toolCalls: 1 })
  })

  test("001-27: is asked for with the five guidelines", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", "Ready."])
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForReports(agent, 1)
    const prompt = lastSaid(agent.model, -1)
    expect(prompt.split("\n").filter((line) => line.startsWith("- "))).toEqual([
      expect.stringContaining("Relate the findings"),
      expect.stringContaining("conversational"),
      expect.stringContaining("what follows from them"),
      expect.stringContaining("make that connection"),
      expect.stringContaining("Use your tools"),
    ])
    expect(prompt).toContain('Original task: "bread"')
    expect(prompt).toContain("you have all your tools")
  })

  test("001-29: tells a single result with summary, facts, artifacts and next steps, or that it completed", async () => {
    const { request } = await requestSingle()
    const lines = request.resultsText.split("\n")
    expect(lines.slice(1)).toEqual([
      "| Summary: A chest.",
      "| Facts discovered: {",
      '|   "depth": 3',
      "| }",
      "| Suggested next steps: dig, rest",
    ])
    const agent = await openReporting([starts("bread"), "It runs.", "Ready."])
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish(null)
    await waitForReports(agent, 1)
    expect(lastSaid(agent.model, -1)).toContain("| Task completed successfully.")
  })

  test("001-30: tells the results of a group numbered, one for each task", async () => {
    const { request } = await requestGroup()
    const heads = request.resultsText.split("\n").filter((line) => /^\d+\. Task /.test(line))
    expect(heads.map((line) => line.slice(0, 2))).toEqual(["1.", "2."])
  })

  test("001-31: is published with its text, channel, done, proactive, tasks and group", async () => {
    const { agent, request } = await requestGroup()
    expect(eventsOf(agent, "report.published")[0]?.report).toEqual({
      messageId: request.messageId,
      text: "The walls stand.",
      channel: "answer",
      done: true,
      proactive: true,
      taskIds: request.taskIds,
      groupId: request.groupId,
    })
  })

  test("001-32: uses what it tells", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", "Ready."])
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForReports(agent, 1)
    const [notice] = await agent.runtime.engine.store.notices({ session: agent.session.id }, 10)
    expect(notice?.state).toBe("consumed")
  })
})
