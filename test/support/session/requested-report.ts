import { expect } from "vitest"
import { z } from "zod"
import type { JsonObject } from "../../../src/base/json.ts"
import { defineTool, type Tool, handBack } from "../../../src/plugin/tool.ts"
import type { ReportRequest } from "../../../src/session/conversation/report-request.ts"
import { openGrouping, spawns } from "./group-agent.ts"
import { openReporting, type ReportingAgent, tasksOf, waitForEnds, waitForReports } from "./reporting.ts"

/** Reports are off at first: the test enables them when it is ready. */
export const OFF = { reports: { enabled: false } } as const

const CHEST = { digest: ["A chest."], facts: { depth: 3 }, artifacts: [], nextSteps: ["dig", "rest"], payload: null }

/** A tool that ends when the test says so, with a result that has every part. */
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

/** Lets the test's own generator report one task, and returns its request. */
export async function requestSingle(): Promise<Requested> {
  const requests: ReportRequest[] = []
  const { tool, find } = createFinding()
  const agent = await openReporting([{ calls: [{ tool: "finding" }] }, "It runs."], { ...OFF, tools: [tool] })
  await agent.session.send("find it", { traceId: "0123456789abcdef0123456789abcdef" })
  find()
  await waitForEnds(agent, await tasksOf(agent))
  const history = agent.session.history()
  agent.session.enableReports({
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

/** Lets the test's own generator report a group, and returns its request. */
export async function requestGroup(more: JsonObject = {}): Promise<Requested> {
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
