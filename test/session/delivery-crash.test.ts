import { describe, expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import type { AgentEvent } from "../../src/plugin/agent-event.ts"
import type { Session } from "../../src/session/conversation/session.ts"
import type { SessionId } from "../../src/task/id.ts"
import { LIVE_STATUSES } from "../../src/task/lifecycle.ts"
import type { Operation } from "../../src/task/operation.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { beginLife, type LifeOptions, type LivingRuntime } from "../support/session/lives.ts"
import { advanceUntil, textsOf } from "../support/session/reporting.ts"
import { add } from "../support/session/test-tools.ts"

const SESSION = "11111111-1111-4111-8111-111111111111" as SessionId
const start: ScriptStep = { calls: [{ tool: "gated", input: { name: "bread" } }] }
const isReport = (operations: readonly Operation[]): boolean =>
  operations.some((one) => one.op === "task.create" && "report" in one.details.metadata)
const tells = (operations: readonly Operation[]): boolean =>
  JSON.stringify(operations).includes("[End of the notices.]")

/** Plays a first life: it starts a task that ends, and dies somewhere on the way of the task's result. */
async function endOnTheWay(folder: string, options: Omit<LifeOptions, "tools">): Promise<LivingRuntime> {
  const gated = createGatedTool({ background: { mode: "always" } })
  const first = await beginLife(folder, 1, { ...options, tools: [gated.tool, add] })
  const session = await first.runtime.createSession({ id: SESSION })
  void session.send("bake").catch(() => {})
  const call = await gated.call(1)
  // Finishes only now: an end before the call's answer would be told in that answer.
  await first.isAsked(2)
  call.finish("a brown loaf")
  await advanceUntil(first.clock, "the life is over", () => first.life.isOver)
  return first
}

interface NextLife extends LivingRuntime {
  readonly session: Session
  readonly events: readonly AgentEvent[]
}

async function goOn(folder: string, options: Omit<LifeOptions, "tools">): Promise<NextLife> {
  const events: AgentEvent[] = []
  const gated = createGatedTool({ background: { mode: "always" } })
  const next = await beginLife(folder, 2, { ...options, tools: [gated.tool, add], onEvent: (one) => events.push(one) })
  const session = await next.runtime.openSession(SESSION)
  return { ...next, session, events }
}

/** Waits for turns that the first life left: they go on by themselves. */
async function turnsAreOver({ store }: NextLife): Promise<void> {
  const left = { kinds: ["turn"], statuses: LIVE_STATUSES } as const
  await eventually("the turn ends", async () => (await store.countTasks(left)) === 0)
}

const toldTimes = (session: Session, what = "a brown loaf"): number =>
  textsOf(session).filter((text) => text.includes(what)).length

describe("C3: crash between delivering a notice and committing it: reported once after restart", () => {
  test.each(["before", "after"] as const)("%s the commit that begins the report", async (when) => {
    const folder = createFolder()
    const reports = { enabled: true }
    await endOnTheWay(folder, { script: [start, "It runs.", "never"], reports, ending: { when, isHere: isReport } })
    const next = await goOn(folder, { script: ["The bread is ready.", "Nothing new."], reports })
    const published = () => next.events.filter(({ type }) => type === "report.published")
    await advanceUntil(next.clock, "it is reported", () => published().length > 0)
    let isSettled = false
    void next.session.reported().then(() => (isSettled = true))
    await advanceUntil(next.clock, "nothing more is due", () => isSettled)
    expect(published()).toHaveLength(1)
    expect(published()[0]).toMatchObject({ report: { text: "The bread is ready.", proactive: true } })
    expect(next.events.filter(({ type }) => type === "report.started")).toHaveLength(1)
    expect(toldTimes(next.session)).toBe(1)
    await next.session.send("and now?")
    expect(next.model.requests.at(-1)?.messages.at(-1)?.parts).toEqual([{ type: "text", text: "and now?" }])
  })

  test.each(["before", "after"] as const)("%s the commit of a tool boundary that tells it", async (when) => {
    const folder = createFolder()
    const counting: ScriptStep = { calls: [{ tool: "add", input: { a: 1, b: 2 } }] }
    function* script(): Generator<ScriptStep> {
      yield start
      for (;;) yield counting
    }
    await endOnTheWay(folder, { script: script(), ending: { when, isHere: tells } })
    const next = await goOn(folder, { script: [counting, "I know of the bread.", "Nothing new."] })
    await turnsAreOver(next)
    await next.session.send("and now?")
    expect(toldTimes(next.session)).toBe(1)
  })
})

describe("C16: a crash between claiming a result and storing the turn that shows it", () => {
  const settles = (operations: readonly Operation[]): boolean =>
    operations.some((one) => one.op === "step.finish" && one.settlesClaims === true) &&
    JSON.stringify(operations).includes("a brown loaf")
  const claims = (operations: readonly Operation[]): boolean => operations.some(({ op }) => op === "notice.claim")

  test.each([
    ["after it was claimed", { when: "after", isHere: claims }],
    ["before the turn that shows it is stored", { when: "before", isHere: settles }],
    ["after the turn that shows it was stored", { when: "after", isHere: settles }],
  ] as const)("the result is shown after the restart, once: %s", async (_, ending) => {
    const folder = createFolder()
    const plugins = [createBackgroundPlugin({ vocabulary: "meanwhile" })]
    const lives: LivingRuntime[] = []
    const wait: ScriptStep = async () => {
      const pages = await Promise.all(
        lives.map(({ runtime }) => runtime.tasks.list({ session: SESSION, kinds: ["tool"] })),
      )
      return {
        calls: [{ tool: "wait_for", input: { tasks: pages.flatMap(({ items }) => items.map(({ id }) => id)) } }],
      }
    }
    const gated = createGatedTool({ background: { mode: "always" } })
    const first = await beginLife(folder, 1, { script: [start, wait, "never"], tools: [gated.tool], plugins, ending })
    lives.push(first)
    const session = await first.runtime.createSession({ id: SESSION })
    void session.send("bake").catch(() => {})
    const call = await gated.call(1)
    // Finishes only now: an earlier end would be told with the answer to the call that started the task.
    await first.isAsked(2)
    call.finish("a brown loaf")
    await first.life.over
    const next = await goOn(folder, { script: ["It is ready.", "So it is."], plugins })
    await turnsAreOver(next)
    await next.session.send("and now?")
    const shown = JSON.stringify(next.session.history()).split("a brown loaf").length - 1
    expect(shown).toBe(1)
    expect((await next.session.trajectory.unconsumed()).size).toBe(0)
  })
})
