import type { AgentEvent } from "../../../src/plugin/agent-event.ts"
import type { ManualClock } from "../../../src/base/manual-clock.ts"
import type { ScriptStep } from "../../../src/builtin/scripted/script.ts"
import type { Session } from "../../../src/session/conversation/session.ts"
import type { TaskId } from "../../../src/task/id.ts"
import { isTerminal } from "../../../src/task/lifecycle.ts"
import { eventually } from "../eventually.ts"
import { createGatedTool, type GatedTool } from "../tools.ts"
import { type AgentOptions, type OpenAgent, openAgent } from "./open-agent.ts"

export interface ReportingOptions extends AgentOptions {
  /** Whether `gated` ends when it is stopped. Default: true. */
  readonly obeys?: boolean
}

export interface ReportingAgent extends OpenAgent {
  readonly gated: GatedTool
}

/** Limits for more tasks at once than the defaults allow. */
export const MANY_AT_ONCE = {
  maxConcurrentTasks: 2_000,
  maxConcurrentPerPlugin: 2_000,
  maxConcurrentPerSession: 2_000,
} as const

/** An agent whose tool `gated` runs in the background from the start, until the test ends it. Reports are on. */
export async function openReporting(
  script: Iterable<ScriptStep>,
  { obeys = true, ...options }: ReportingOptions = {},
): Promise<ReportingAgent> {
  const gated = createGatedTool({ background: { mode: "always" }, obeys, title: (input) => titleOf(input) })
  const agent = await openAgent(script, {
    isKept: true,
    ...options,
    reports: { enabled: true, ...options.reports },
    tools: [gated.tool, ...(options.tools ?? [])],
  })
  return { ...agent, gated }
}

function titleOf(input: unknown): string {
  const name = typeof input === "object" && input !== null && "name" in input ? String(input.name) : ""
  return name === "" ? "gated" : name
}

/** A model's answer that starts these tasks in the background, all at once. */
export const starts = (...names: readonly string[]): ScriptStep => ({
  calls: names.map((name) => ({ tool: "gated", input: { name } })),
})

export function eventsOf<Type extends AgentEvent["type"]>(
  { events }: Pick<OpenAgent, "events">,
  type: Type,
): readonly Extract<AgentEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type)
}

export const reportsOf = (agent: Pick<OpenAgent, "events">): readonly string[] =>
  eventsOf(agent, "report.published").map(({ report }) => report.text)

export const notificationsOf = (agent: Pick<OpenAgent, "events">): readonly string[] =>
  eventsOf(agent, "notification.shown").map(({ text }) => text)

/** Moves the clock in small steps until `look` is true. */
export function advanceUntil(
  clock: ManualClock,
  what: string,
  look: () => boolean | Promise<boolean>,
): Promise<boolean> {
  return eventually(what, async () => {
    clock.advance(5)
    return look()
  })
}

/** Moves the clock, which otherwise stands still, until no report is due any more. */
export async function reported({ session }: Pick<OpenAgent, "session">, clock: ManualClock): Promise<void> {
  let isOver = false
  const done = session.reported().then(() => (isOver = true))
  await advanceUntil(clock, "everything is reported", () => isOver)
  await done
}

/** Ends the n-th call of `gated` once it has begun. */
export async function finishNext({ gated }: ReportingAgent, number: number, value = `result ${number}`): Promise<void> {
  const call = await gated.call(number)
  call.finish(value)
}

/** Resolves when `count` reports were published. */
export async function waitForReports(agent: Pick<OpenAgent, "events">, count: number): Promise<readonly string[]> {
  await eventually(`${count} reports are published`, () => reportsOf(agent).length >= count)
  return reportsOf(agent)
}

export async function tasksOf({ runtime, session }: OpenAgent): Promise<readonly TaskId[]> {
  const { items } = await runtime.tasks.list({ session: session.id, kinds: ["tool"] }, { limit: 1_000 })
  return items.map(({ id }) => id).toReversed()
}

export async function waitForEnds({ runtime }: OpenAgent, ids: readonly TaskId[]): Promise<void> {
  await eventually("the tasks end", async () => {
    const found = await Promise.all(ids.map((id) => runtime.tasks.get(id)))
    return found.every(({ task }) => isTerminal(task.status))
  })
}

export const textsOf = (session: Session): readonly string[] =>
  session.history().flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])))
