import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import { isMeanwhileError } from "../../src/base/error.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { Execution } from "../../src/plugin/task-service.ts"
import type { RunnerService } from "../../src/runner/runner.ts"
import { EXPECTED_LIVE, isLive } from "../../src/engine/suite/oracle.ts"
import type { RunStatus } from "../../src/task/lifecycle.ts"
import type { TaskStore } from "../../src/task/store.ts"
import { isPostgres, openTestRuntime } from "../support/test-engine.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, type GatedTool } from "../support/tools.ts"
import { assertProperty } from "../support/assert-property.ts"
import { isLong } from "../support/chaos/seed.ts"
import { describeLive, findBrokenHistories, findUnfinished, readHistories } from "../support/chaos/store-invariants.ts"

const SLOTS = 2
/** Sequences to play. On a server each needs a database of its own. */
const IN_A_FILE = isLong ? 3_000 : 30
const ON_A_SERVER = isLong ? 300 : 5
/** Turns of the event loop that are enough for every request to take effect. */
const MOST_TURNS = 2_000

/** One step of a sequence. `which` picks among the tasks or calls that exist at that time. */
type Happening =
  | { readonly type: "start"; readonly tool: "patient" | "stubborn"; readonly timeoutMs: number | undefined }
  | { readonly type: "execute" | "promote" | "finish" | "fail" | "cancel" | "retry" | "use"; readonly which: number }
  | { readonly type: "pass"; readonly durationMs: number }
  | { readonly type: "turn"; readonly count: number }

const which = fc.nat(100)
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    type: fc.constant("start" as const),
    tool: fc.constantFrom("patient" as const, "stubborn" as const),
    timeoutMs: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined }),
  }),
  fc.record({
    type: fc.constantFrom("execute", "promote", "finish", "fail", "cancel", "retry", "use" as const),
    which,
  }),
  fc.record({ type: fc.constant("pass" as const), durationMs: fc.integer({ min: 1, max: 12_000 }) }),
  fc.record({ type: fc.constant("turn" as const), count: fc.integer({ min: 1, max: 5 }) }),
)

test("whatever happens in whatever order: no end is undone, each run has one notice, no number is missing, no slot is lost", async () => {
  const property = fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 40 }), play)
  await assertProperty(property, { numRuns: isPostgres ? ON_A_SERVER : IN_A_FILE })
}, 3_600_000)

interface Stage {
  readonly tasks: RunnerService
  readonly store: TaskStore
  readonly clock: ManualClock
  readonly gates: { readonly patient: GatedTool; readonly stubborn: GatedTool }
  readonly settled: Set<object>
  readonly executions: Execution[]
  readonly ends: Map<string, RunStatus>
}

async function play(happenings: readonly Happening[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-random-"))
  const clock = createManualClock()
  const gates = {
    patient: createGatedTool({ name: "patient", obeys: true }),
    stubborn: createGatedTool({ name: "stubborn" }),
  }
  const tools = [gates.patient.tool, gates.stubborn.tool]
  const meanwhile = await openTestRuntime({
    dataDirectory: directory,
    plugins: [definePlugin({ kind: "tool", name: "random", tools })],
    synchronous: "normal",
    clock,
    background: { maxConcurrentTasks: SLOTS, maxConcurrentPerPlugin: SLOTS, stopGraceSeconds: 1 },
  })
  const { store } = meanwhile.engine
  const stage = {
    tasks: meanwhile.tasks,
    store,
    clock,
    gates,
    settled: new Set<object>(),
    executions: [],
    ends: new Map(),
  }
  try {
    for (const one of happenings) {
      await happen(stage, one)
      await checkNow(stage)
    }
    await endEverything(stage)
    await checkNow(stage)
    const histories = await readWrittenHistories(store)
    expect([...(await findBrokenHistories(store, histories)), ...(await findUnfinished(store, histories))]).toEqual([])
    await fillEverySlot(stage)
  } finally {
    await meanwhile.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function happen(stage: Stage, one: Happening): Promise<void> {
  const { tasks, clock } = stage
  switch (one.type) {
    case "start":
      await tasks.start({ tool: one.tool, input: {}, ...(one.timeoutMs && { timeoutMs: one.timeoutMs }) })
      return
    case "execute":
      stage.executions.push(tasks.execute({ tool: one.which % 2 ? "patient" : "stubborn", input: {} }))
      return
    case "promote":
      await pick(stage.executions, one.which)?.promote()
      return
    case "finish":
    case "fail":
      return settle(stage, one.type, one.which)
    case "pass":
      clock.advance(one.durationMs)
      return turn(1)
    case "turn":
      return turn(one.count)
    default:
      return command(stage, one.type, one.which)
  }
}

function settle(stage: Stage, how: "finish" | "fail", index: number): void {
  const call = pick(openCalls(stage), index)
  if (!call) return
  stage.settled.add(call)
  if (how === "finish") call.finish("done")
  else call.fail(new Error("failed"))
}

/** Gives one command. A command that comes at the wrong moment is refused, which is no failure here. */
async function command(stage: Stage, type: "cancel" | "retry" | "use", index: number): Promise<void> {
  const { items } = await stage.tasks.list({})
  const task = pick(items, index)
  if (!task) return
  try {
    if (type === "cancel") await stage.tasks.cancel(task.id)
    else if (type === "retry") await stage.tasks.retry(task.id)
    else await stage.tasks.result(task.id, { consume: true })
  } catch (error) {
    if (!isMeanwhileError(error, "wrong_state")) throw error
  }
}

/** Checks that started tasks never exceed the slots (promoted ones may), and that no ended run changes its status. */
async function checkNow({ store, ends }: Stage): Promise<void> {
  const histories = await readHistories(store)
  const isPromoted = (types: readonly string[]): boolean => types.includes("task.promoted")
  const holding = histories.filter(
    ({ task, events }) =>
      (task.status === "running" || task.status === "stopping") &&
      (task.run > 1 || !isPromoted(events.map(({ body }) => body.type))),
  )
  expect(holding.length, "tasks that hold a slot").toBeLessThanOrEqual(SLOTS)
  for (const { id, run, status } of histories.flatMap((history) => history.runs)) {
    const key = `${id}/${run}`
    const known = ends.get(key)
    expect(known ?? status, `run ${key} had ended`).toBe(status)
    if (!isLive(status)) ends.set(key, status)
  }
}

async function endEverything(stage: Stage): Promise<void> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    if (await isOver(stage)) return
    settle(stage, "finish", 0)
    stage.clock.advance(100)
    await turn(1)
  }
  throw new Error(`something never ends:\n${await describeLive(stage.store)}`)
}

/** True if nothing goes on. A call that is being promoted is in no list yet; its task is listed once the call is answered. */
async function isOver(stage: Stage): Promise<boolean> {
  const isNothingOpen = async (): Promise<boolean> =>
    openCalls(stage).length === 0 && (await stage.tasks.list({ statuses: EXPECTED_LIVE })).items.length === 0
  if (!(await isNothingOpen())) return false
  await Promise.allSettled(stage.executions.map(({ answer }) => answer))
  return isNothingOpen()
}

/** A stopped call that ends late has its end written behind the end of its task, and nobody waits for that. */
async function readWrittenHistories(store: TaskStore): ReturnType<typeof readHistories> {
  return await eventually("every task is as its last event left it", async () => {
    const histories = await readHistories(store)
    return histories.every(({ task, events }) => task.lastSequence === events.length) && histories
  })
}

async function fillEverySlot(stage: Stage): Promise<void> {
  const before = openCalls(stage).length
  const started = await Promise.all(
    Array.from({ length: SLOTS }, () => stage.tasks.start({ tool: "patient", input: {} })),
  )
  await eventually("every slot has a task", () => openCalls(stage).length === before + SLOTS)
  for (let count = 0; count < SLOTS; count++) settle(stage, "finish", 0)
  for (const { id } of started) expect((await stage.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
}

/** Calls of the tools that have not ended yet, including stopped ones that ignore their signal. */
function openCalls({ gates, settled }: Stage) {
  return [...gates.patient.calls, ...gates.stubborn.calls].filter(
    (call) => !settled.has(call) && !(gates.patient.calls.includes(call) && call.context.signal.aborted),
  )
}

function pick<Item>(items: readonly Item[], index: number): Item | undefined {
  return items.length === 0 ? undefined : items[index % items.length]
}

async function turn(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setImmediate(resolve))
}
