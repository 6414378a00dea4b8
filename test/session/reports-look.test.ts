import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { Bus, Wake } from "../../src/task/bus.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted } from "../support/session/open-agent.ts"
import {
  advanceUntil,
  notificationsOf,
  openReporting,
  reported,
  type ReportingAgent,
  reportsOf,
  starts,
  tasksOf,
  waitForEnds,
} from "../support/session/reporting.ts"

const MINUTE_MS = 60_000
const LONGEST_DEFERRAL_MS = 10 * MINUTE_MS

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function endTask(agent: ReportingAgent): Promise<void> {
  ;(await agent.gated.call(1)).finish("a loaf")
  await waitForEnds(agent, await tasksOf(agent))
}

test("a wait for reports of a conversation that never had a task ends with its turn", async () => {
  const clock = createManualClock()
  const gate = createGate()
  const script = [() => ({ gate: gate.pass(), text: "Hello." })]
  const { session } = await openAgent(script, { clock, reports: { enabled: true } })
  const sending = session.send("hello")
  await gate.reached
  let isReleased = false
  const waiting = session.reported().then(() => (isReleased = true))
  for (let round = 0; round < 10; round++) {
    clock.advance(5)
    await nextRound()
  }
  expect(isReleased).toBe(false)
  gate.open()
  await sending
  await advanceUntil(clock, "it is released", () => isReleased)
  await waiting
})

test("ends that never pause are told all the same, in pieces", async () => {
  const clock = createManualClock()
  const engine = await openTestEngine(createFolder(), { clock })
  const listeners = new Set<(wake: Wake) => void>()
  const subscribe: Bus["subscribe"] = (listener) => {
    listeners.add(listener)
    return engine.bus.subscribe(listener)
  }
  const agent = await openReporting([starts("bread"), "It runs.", "The bread is ready."], {
    clock,
    engine: { ...engine, bus: { ...engine.bus, subscribe } },
  })
  await agent.session.send("bake")
  await endTask(agent)
  const hasMore: Wake = { about: "session", sessionId: agent.session.id }
  await advanceUntil(clock, "it is reported", () => {
    for (const listener of listeners) listener(hasMore)
    return reportsOf(agent).length > 0
  })
  expect(reportsOf(agent)).toEqual(["The bread is ready."])
})

test("reports that are turned off while one is looked for show nothing later", async () => {
  const clock = createManualClock()
  const gate = createGate()
  const agent = await openReporting([starts("bread"), "It runs."], { clock, reports: { maxDeferralMs: 100 } })
  await agent.session.send("bake")
  await reported(agent, clock)
  const other = createScriptedModel([() => ({ gate: gate.pass(), text: "Hello." })])
  const { runtime } = await openScripted(other, { isKept: true, folder: agent.folder, clock })
  const talking = (await runtime.openSession(agent.session.id)).send("hello")
  await gate.reached
  const { store } = agent.runtime.engine
  const read = store.session
  let isOff = false
  const session: typeof read = (id) => {
    isOff = true
    agent.session.disableReports()
    return read(id)
  }
  Object.assign(store, { session })
  await endTask(agent)
  await advanceUntil(clock, "it is looked for", () => isOff)
  for (let round = 0; round < 20; round++) {
    clock.advance(20)
    await nextRound()
  }
  expect(notificationsOf(agent)).toEqual([])
  gate.open()
  await talking
})

test("C5: a look that fails does not lift the ceiling of a busy conversation", async () => {
  const clock = createManualClock()
  const gate = createGate()
  const script = [
    starts("bread"),
    "It runs.",
    () => ({ gate: gate.pass(), text: "Still here." }),
    "The bread is ready.",
  ]
  const agent = await openReporting(script, { clock })
  await agent.session.send("bake")
  await reported(agent, clock)
  const talking = agent.session.send("tell me a long story")
  await gate.reached
  await endTask(agent)
  clock.advance(10)
  await nextRound()
  const { store } = agent.runtime.engine
  const read = store.notices
  let failures = 0
  const notices: typeof read = async (filter, limit) => {
    if (failures > 0 || limit === 1) return read(filter, limit)
    failures += 1
    throw new Error("the disk is busy")
  }
  Object.assign(store, { notices })
  clock.advance(LONGEST_DEFERRAL_MS)
  await nextRound()
  expect([failures, notificationsOf(agent)]).toEqual([1, []])
  await advanceUntil(clock, "the person is told", () => {
    clock.advance(MINUTE_MS)
    return notificationsOf(agent).length > 0
  })
  gate.open()
  await talking
})
