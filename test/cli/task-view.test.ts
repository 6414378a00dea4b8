import { expect, test } from "vitest"
import { formatTaskView } from "../../src/cli/format/format-task-view.ts"
import { formatAccounting } from "../../src/cli/format/format-accounting.ts"
import { openDatabase } from "../../src/engine/postgres/connection/open-database.ts"
import { createTask, RUNNING, WORKER } from "../../src/engine/suite/samples.ts"
import { createTaskId } from "../../src/task/id.ts"
import { WORKER_LEASE_PREFIX } from "../../src/task/worker.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createMachines } from "../support/two-machines.ts"
import { createFolder } from "../support/workplace.ts"

const BESIDE = { group: null, questions: [], firstStartedAt: null, heldUpBy: [], below: [] }
const LINE = "researcher works in session 1f0c"
const PROGRESS = { done: null, total: null, phase: "thinking", line: LINE }
const NO_CALLS = { toolCalls: 0, lastTools: [], tokens: 0, at: 0 }

async function viewTask(kind: "tool" | "agent") {
  const engine = await openTestEngine(createFolder())
  const task = await createTask(engine, RUNNING, { kind })
  const unknown = { placeInQueue: null, missing: null, worker: null, estimate: null }
  return { ...unknown, task, outputBytes: 0, lastLine: null, outlived: [] }
}

test("an agent is shown with its words and without the remark that it printed nothing, since agents never print", async () => {
  const view = await viewTask("agent")
  const task = { ...view.task, progress: { ...PROGRESS, activity: NO_CALLS } }
  const shown = formatTaskView({ view: { ...view, task, lastLine: LINE }, ...BESIDE }, Date.now())
  expect(shown).toContain(`\nsaid      ${LINE}`)
  expect(shown).not.toMatch(/^(output|last line)/m)
  expect(shown).toMatch(/^spent {5}no tokens counted$/m)
  const { task: command } = await viewTask("tool")
  expect(formatTaskView({ view: { ...view, task: command }, ...BESIDE }, Date.now())).toMatch(/^output {4}none$/m)
})

test("a stopped task names what goes on, and gives no reason that may not be its own", async () => {
  const view = await viewTask("agent")
  const { task: server } = await viewTask("tool")
  const shown = formatTaskView({ view: { ...view, outlived: [server.id] }, ...BESIDE }, Date.now())
  const id = server.id.slice(0, 8)
  expect(shown).toMatch(new RegExp(`^goes on {3}\\[${id}\\]: its parent was stopped, it was not$`, "m"))
})

test("a task that waits for an answer says for how long", async () => {
  const view = await viewTask("agent")
  const questions = [{ openedAt: 1_000 }] as unknown as Parameters<typeof formatTaskView>[0]["questions"]
  expect(formatTaskView({ view, ...BESIDE, questions }, 21_200)).toMatch(/^waits {5}for your answer, for 20\.2 s$/m)
})

test("a line of progress is shown once, and the phase only while a worker runs the task", async () => {
  const view = await viewTask("tool")
  const unphased = { ...view.task, progress: { ...PROGRESS, phase: null } }
  const running = formatTaskView({ view: { ...view, task: unphased, lastLine: LINE }, ...BESIDE }, Date.now())
  expect(running.split("\n").filter((line) => line.includes(LINE))).toEqual([`progress  ${LINE}`])
  const { task: queued } = { task: await createTask(await openTestEngine(createFolder())) }
  const waiting = { ...queued, progress: PROGRESS }
  expect(formatTaskView({ view: { ...view, task: waiting, lastLine: LINE }, ...BESIDE }, Date.now())).not.toContain(
    "thinking",
  )
})

test("the time of a task that several workers had is shown as the least time at work", async () => {
  const view = await viewTask("agent")
  const now = Date.now()
  const task = { ...view.task, ranMs: 16_000, startedAt: now }
  const shown = formatTaskView({ ...BESIDE, view: { ...view, task }, firstStartedAt: now - 33_000 }, now)
  expect(shown).toMatch(/^elapsed {3}33\.0 s since its first start, at least 16\.0 s of it at work$/m)
})

test("the unknown tokens of a turn that was cut off are not shown as none", () => {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 }
  const turn = {
    turn: createTaskId(),
    model: "offline/rules",
    modelCalls: 1,
    toolCalls: 0,
    costMicros: null,
    durationMs: 2_900,
  }
  const context = { percentUsed: 21 } as Parameters<typeof formatAccounting>[1]
  const told = (outcome: "stopped" | "completed") =>
    formatAccounting({ ...turn, outcome, usage } as Parameters<typeof formatAccounting>[0], context)
  expect(told("stopped")).toBe("stopped · offline/rules · no tokens counted · 2.9 s · context 21 %")
  expect(told("completed")).toContain("0 + 0 tokens")
})

test("a program that has just started sees at once that the worker of a task is silent", async () => {
  const machines = await createMachines()
  const { runtime, engine } = await machines.open({ takesWork: false })
  const data = { host: "build-1", pid: 7, bootId: "another" }
  const key = `${WORKER_LEASE_PREFIX}${WORKER}`
  await engine.store.commit([{ op: "lease.take", key, holder: WORKER, ttlMs: 60_000, data }])
  const { id } = await createTask(engine, RUNNING)
  const show = async () => formatTaskView({ view: await runtime.tasks.get(id), ...BESIDE }, Date.now())
  expect(await show()).toMatch(/^runs on {3}build-1, pid 7$/m)

  const database = await openDatabase({ url: machines.url, poolSize: 1 })
  await database.query("UPDATE leases SET renewed_at = renewed_at - interval '1 hour' WHERE holder = $1", [WORKER])
  await database.close()
  const next = await machines.open({ takesWork: false })
  const shown = formatTaskView({ view: await next.runtime.tasks.get(id), ...BESIDE }, Date.now())
  expect(shown).toMatch(/^runs on {3}build-1, pid 7; its worker is silent, and another worker will take it over$/m)
})
