import { createHash } from "node:crypto"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { ReportRequest } from "../../src/session/conversation/report-request.ts"
import { eventsOf, openReporting, starts, tasksOf, waitForReports } from "../support/session/reporting.ts"
import { OFF, requestGroup, requestSingle } from "../support/session/requested-report.ts"

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

  test("001-24: holds what tools keep with the conversation, and what it was saved with elsewhere", async () => {
    const paint = defineTool({
      name: "paint",
      description: "Remembers a colour.",
      input: z.object({}),
      run: async (_input, { documents }) => documents.change("walls", () => "blue"),
    })
    const agent = await openReporting(["Hello.", { calls: [{ tool: "paint" }] }, "Painted."], {
      ...OFF,
      plugins: [definePlugin({ kind: "tool", name: "painter", tools: [paint] })],
    })
    const { runtime, session: first } = agent
    await first.send("hello")
    const data = { notes: { colour: "red" } }
    const session = await runtime.openSession(await runtime.sessions.restore({ ...(await first.state()), data }))
    await session.send("paint")
    const asked = Promise.withResolvers<ReportRequest>()
    session.enableReports({
      async generator(request) {
        asked.resolve(request)
        return "ready"
      },
    })
    await runtime.tasks.start({ tool: "gated", input: {}, session: session.id })
    ;(await agent.gated.call(1)).finish("a loaf")
    expect((await asked.promise).toolContext).toEqual({ ...data, painter: { walls: "blue" } })
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
