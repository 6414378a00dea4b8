import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import type { JsonObject } from "../../src/base/json.ts"
import { lastSaid, resultsOf } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import { nextWait } from "../support/next-wait.ts"
import {
  type BackgroundOptions,
  call,
  createGatedCommand,
  type OpenBackground,
  openBackground,
} from "../support/background/open-background.ts"
import { about } from "../support/background/open-delegation.ts"

/** The agent of the running test: scripts look at its tasks. */
let agent: OpenBackground
const get = (number: number, more = {}) => about(() => agent, "tasks.get", number, more)
const acknowledge: ScriptStep = async () =>
  call("tasks.acknowledge_background", { task_ids: [(await agent.task(1)).id] })

const toSpawn = (name: string, more: JsonObject = {}) => ({
  tool: "tasks.spawn",
  input: { mode: "job", tool_name: "run_command", tool_args: { name }, ...more },
})
const spawn = (name: string, more: JsonObject = {}): ScriptStep => ({ calls: [toSpawn(name, more)] })

async function open(script: readonly ScriptStep[], options: BackgroundOptions = {}) {
  const gated = createGatedCommand()
  agent = await openBackground(script, { vocabulary: "penguiflow", shell: [gated.tool], ...options })
  return gated
}

/** The result is kept for the agent to look at, and never told by itself. */
const SILENT = { notify: "silent" }

const UNKNOWN = "00000000-0000-4000-8000-000000000000"

const unconsumed = async () => (await agent.session.trajectory.unconsumed()).size

describe("acknowledging", () => {
  test("001-43: acknowledge_background answers what was acknowledged and how many were cleaned up", async () => {
    const gated = await open([spawn("build", SILENT), "It runs.", acknowledge, acknowledge, "Known."])
    await agent.session.send("build")
    ;(await gated.call(1)).finish("built")
    const { id } = await agent.ended(1)
    await agent.session.send("and?")
    expect(agent.answers().slice(-2)).toEqual([
      { acknowledged: [id], cleaned_up: 1 },
      { acknowledged: [id], cleaned_up: 0 },
    ])
  })

  test("one unknown id does not refuse the others, and is named; only unknown ids are refused", async () => {
    const acknowledgeWith = (...more: readonly string[]): ScriptStep => {
      return async () => call("tasks.acknowledge_background", { task_ids: [...more, (await agent.task(1)).id] })
    }
    const onlyUnknown = call("tasks.acknowledge_background", { task_ids: [UNKNOWN, "no id"] })
    const gated = await open([spawn("build", SILENT), "It runs.", acknowledgeWith(UNKNOWN), onlyUnknown, "Known."])
    await agent.session.send("build")
    ;(await gated.call(1)).finish("built")
    const { id } = await agent.ended(1)
    await agent.session.send("and?")
    expect(agent.answers().at(-2)).toEqual({ acknowledged: [id], cleaned_up: 1, unknown: [UNKNOWN] })
    expect(resultsOf(agent.session.history()).at(-1)).toMatchObject({ isError: true })
    expect(await unconsumed()).toBe(0)
  })

  test("001-49: without reports the agent looks at a result itself, acknowledges it, and it is cleaned up", async () => {
    const gated = await open([spawn("build", SILENT), "It runs.", get(1), acknowledge, "Built.", "Yes?"])
    await agent.session.send("build")
    ;(await gated.call(1)).finish("built")
    await agent.ended(1)
    expect(await unconsumed()).toBe(1)
    await agent.session.send("and?")
    expect(agent.answers().at(-2)).toMatchObject({ status: "completed", digest: ["built"] })
    expect(await unconsumed()).toBe(0)
    await agent.session.send("hello")
    expect(lastSaid(agent.model, -1)).toBe("hello")
  })

  test("a result that was read counts as used without being acknowledged", async () => {
    const gated = await open([
      spawn("build"),
      async () => {
        ;(await gated.call(1)).finish({ files: 12 })
        await agent.ended(1)
        return get(1, { include_result: true })
      },
      "Built.",
      "Yes?",
    ])
    await agent.session.send("build")
    expect(agent.answers().at(-1)).toMatchObject({ result: { files: 12 }, facts: {}, artifacts: [] })
    await agent.session.send("hello")
    expect(lastSaid(agent.model, -1)).toBe("hello")
  })
})

describe("retain_turn", () => {
  test("001-58: a turn is kept open for one task without any group, and has its result", async () => {
    const gated = await open([spawn("build", { retain_turn: true }), "Built."])
    const turn = agent.session.send("build")
    ;(await gated.call(1)).finish("built")
    expect((await turn).text).toBe("Built.")
    expect(agent.answers()).toMatchObject([{ retained: true, results: [{ status: "completed", result: "built" }] }])
  })

  test("a turn is kept open for a sealed group, and has the results of all its tasks", async () => {
    const calls = [
      toSpawn("a", { group: "both" }),
      toSpawn("b", { group: "both", group_sealed: true, retain_turn: true }),
    ]
    const gated = await open([{ calls: calls.slice(0, 1) }, { calls: calls.slice(1) }, "Both."])
    const turn = agent.session.send("build")
    ;(await gated.call(1)).finish("first")
    ;(await gated.call(2)).finish("second")
    await turn
    expect(agent.answers().at(-1)).toMatchObject({
      group: { name: "both" },
      results: expect.arrayContaining([
        expect.objectContaining({ result: "first" }),
        expect.objectContaining({ result: "second" }),
      ]),
    })
  })

  test("001-59: a turn is kept open as long as the configuration says", async () => {
    const clock = createManualClock()
    const background = { retainTurnTimeoutMs: 2_000 }
    const gated = await open([spawn("build", { retain_turn: true }), "It takes longer."], { clock, background })
    const isKept = nextWait(agent.runtime)
    const turn = agent.session.send("build")
    await Promise.all([gated.call(1), isKept])
    clock.advance(1_999)
    expect(await agent.task(1)).toMatchObject({ status: "running" })
    expect(agent.model.callCount).toBe(1)
    clock.advance(1)
    await turn
    expect(agent.answers().at(-1)).toMatchObject({ retained: false, note: expect.stringContaining("by itself") })
  })

  test("001-60: what takes longer than the turn was kept open for goes on, and its result comes later", async () => {
    const clock = createManualClock()
    const gated = await open([spawn("build", { retain_turn: true }), "It takes longer.", "Built."], { clock })
    const turn = agent.session.send("build")
    const building = await gated.call(1)
    await passUntilOver(turn, clock)
    building.finish("built at last")
    await agent.ended(1)
    await agent.session.send("hello")
    expect(lastSaid(agent.model, -1)).toContain("built at last")
  })

  test("001-61: what a kept turn has used is not reported again", async () => {
    const gated = await open([spawn("build", { retain_turn: true }), "Built.", "Yes?"])
    agent.session.enableReports()
    const turn = agent.session.send("build")
    ;(await gated.call(1)).finish("built")
    await turn
    await agent.session.reported()
    expect(agent.model.callCount).toBe(2)
    await agent.session.send("hello")
    expect(lastSaid(agent.model, -1)).toBe("hello")
  })

  test("a turn cannot be kept open for results that a person must decide on first", async () => {
    await open([spawn("build", { retain_turn: true, merge_strategy: "HUMAN_GATED" }), "Oh."])
    await agent.session.send("build")
    expect(JSON.stringify(agent.answers())).toContain("leave retain_turn or human_gated out")
  })

  async function passUntilOver(turn: Promise<unknown>, clock: ReturnType<typeof createManualClock>): Promise<void> {
    const over = { is: false }
    void turn.finally(() => (over.is = true))
    await eventually("the turn is over", () => {
      clock.advance(over.is ? 0 : 200)
      return over.is
    })
    await turn
  }
})
