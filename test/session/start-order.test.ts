import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { type CancelTimer, type Clock, systemClock } from "../../src/base/clock.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { SessionPlugin } from "../../src/plugin/session-plugin.ts"
import { eventually } from "../support/eventually.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"

test("a turn that was left goes on once the session plugin is ready, with its tools", async () => {
  const gate = createGate()
  const { session, runtime, folder } = await openAgent([() => ({ gate: gate.pass() })], { isKept: true })
  const left = session.send("go").catch(() => {})
  await gate.reached
  await runtime.close()
  await left
  const model = createScriptedModel(["done"])
  const plugin: SessionPlugin = definePlugin({
    kind: "session",
    name: "slow_to_start",
    tools: [add],
    save: async () => {},
    load: async () => undefined,
    list: async () => [],
    delete: async () => false,
    setDescription: async () => {},
    needsDescription: () => false,
    async initialize() {
      for (let round = 0; round < 200; round++) await setImmediate()
      expect(model.callCount).toBe(0)
    },
  })
  await openScripted(model, { isKept: true, folder, sessionPlugin: () => plugin })
  await eventually("the turn goes on", () => model.callCount === 1)
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["add"])
})

test("a runtime whose session plugin cannot be made leaves nothing running", async () => {
  const { clock, timers } = createCountingClock()
  const opening = openTestRuntime({
    clock,
    environment: {},
    dataDirectory: join(createFolder(), "data"),
    sessionPlugin: () => {
      throw new Error("no such folder")
    },
  })
  await expect(opening).rejects.toThrow("no such folder")
  expect(timers.size).toBe(0)
})

/** A clock with the set of its timers that are neither due nor cancelled. */
function createCountingClock(): { readonly clock: Clock; readonly timers: ReadonlySet<object> } {
  const timers = new Set<object>()
  function schedule(...[delayMs, callback, options]: Parameters<Clock["schedule"]>): CancelTimer {
    const timer = {}
    timers.add(timer)
    const cancel = systemClock.schedule(delayMs, () => timers.delete(timer) && callback(), options)
    return () => {
      timers.delete(timer)
      cancel()
    }
  }
  return { clock: { ...systemClock, schedule }, timers }
}
