import { expect, test } from "vitest"
import { createManualClock } from "../../../src/base/manual-clock.ts"
import { createBackgroundPlugin } from "../../../src/builtin/background/background-plugin.ts"
import { toBackgroundConfig } from "../../../src/runner/limits/background-config.ts"
import { openBackground } from "../../support/background/open-background.ts"
import { eventually } from "../../support/eventually.ts"
import { openRunner } from "../../support/open-runner.ts"
import { ask, NAME, openAsking } from "../../support/asking.ts"
import { nextTimer } from "../../support/next-timer.ts"
import { openTestEngine } from "../../support/test-engine.ts"
import { createGatedTool } from "../../support/tools.ts"
import { createFolder } from "../../support/workplace.ts"

test("completionScanIntervalMs: an end whose event was lost is found within it", async () => {
  const directory = createFolder()
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true })
  const completionScanIntervalMs = 40_000
  const open = () => openTestEngine(directory, { clock })
  const [engine, deaf] = [await open(), await open()]
  const nothing = () => () => {}
  const working = await openRunner(directory, { engine, clock, tools: [gated.tool] })
  const waiting = await openRunner(directory, {
    engine: { ...deaf, bus: { ...deaf.bus, subscribe: nothing, subscribeTask: nothing } },
    clock,
    background: { completionScanIntervalMs },
    tools: [],
  })
  const { id } = await working.start({ tool: "gated", input: {} })
  let isHeard = false
  const looked = nextTimer(clock, completionScanIntervalMs)
  const heard = waiting.result(id, { waitMs: 1e9 }).finally(() => {
    isHeard = true
  })
  // A first look after the end would find it without a scan.
  await looked
  ;(await gated.call(1)).finish("bread")
  await eventually("its end is written", async () => (await engine.store.task(id))?.status === "completed")
  clock.advance(30_000)
  // Each of these is a commit: an end that had been looked for would be found before the last of them.
  for (let count = 0; count < 5; count++) await engine.store.commit([])
  expect(isHeard).toBe(false)
  clock.advance(11_000)
  expect((await heard).task).toMatchObject({ status: "completed", patch: { payload: "bread" } })
})

test("questionExpirySeconds: so long a question waits in the inbox", async () => {
  const life = await openAsking(createFolder(), { background: { questionExpirySeconds: 7 } })
  await ask(life, [NAME])
  const [wait] = await life.questions(1)
  expect(wait?.expiresAt).toBe(life.clock.now() + 7_000)
})

test("vocabulary: the tools for tasks have the names that it gives them", () => {
  const namesOf = (vocabulary: "jaato" | "opencode") =>
    createBackgroundPlugin(toBackgroundConfig({ vocabulary })).tools.map(({ name }) => name)
  expect(namesOf("jaato")).toContain("startBackgroundTask")
  expect(namesOf("opencode")).toContain("background_task")
})

test("retainTurnTimeoutMs: so long a turn is kept open for a task that was started to be waited for", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true })
  const start = { tool: "start_task", input: { tool: "gated", input: {}, wait: true } }
  const agent = await openBackground([{ calls: [start] }, "It takes long."], {
    vocabulary: "meanwhile",
    clock,
    tools: [gated.tool],
    background: { retainTurnTimeoutMs: 7_000 },
  })
  const began = clock.monotonic()
  const turn = agent.session.send("do it")
  await gated.call(1)
  await eventually("the turn goes on", () => {
    if (agent.model.callCount < 2) clock.advance(500)
    return agent.model.callCount === 2
  })
  expect((await turn).text).toBe("It takes long.")
  expect(clock.monotonic() - began).toBeGreaterThanOrEqual(7_000)
})
