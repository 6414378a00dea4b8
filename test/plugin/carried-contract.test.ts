import { expect, test } from "vitest"
import type { RunningWork } from "../../src/plugin/background-capable.ts"
import { openBackground } from "../support/background/open-background.ts"
import { eventually } from "../support/eventually.ts"
import { openFarm, startRender } from "../support/plugin/open-farm.ts"
import { createRenderFarm } from "../support/render-farm.ts"

const CALL = { tool: "render", input: { scene: "dawn" } }

test("getStatus: work that ended by itself while it was being cancelled has left nothing running", async () => {
  const agent = await openFarm([startRender(), "It runs."], {
    cancel: async () => false,
    getStatus: async () => "completed",
  })
  await agent.session.send("render it")
  await agent.farm.task(1)
  const { id } = await agent.task(1)
  await agent.runtime.tasks.cancel(id)
  expect(await agent.ended(1)).toMatchObject({ status: "cancelled", survivors: [] })
})

test("registerRunningTask: work that is adopted under a tool of the plugin is the plugin's, and is followed and stopped there", async () => {
  const farm = createRenderFarm()
  const inner = farm.connect()
  const taken: (readonly [RunningWork, string, unknown])[] = []
  const plugin = farm.connect({
    registerRunningTask(...work) {
      taken.push(work)
      return inner.startBackground(work[1], work[2])
    },
  })
  const { runtime } = await openBackground([], { plugins: [plugin] })
  const work = { pid: 1 }
  const adopted = await runtime.tasks.adopt(CALL, work)
  expect(adopted).toMatchObject({ status: "running", plugin: "farm" })
  expect(taken).toEqual([[work, "render", CALL.input]])
  farm.end(1, { result: "a picture" })
  const { task } = await runtime.tasks.result(adopted.id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: "a picture" } })
  const second = await runtime.tasks.adopt(CALL, work)
  await runtime.tasks.cancel(second.id)
  await runtime.tasks.result(second.id, { waitMs: 20_000 })
  expect(farm.cancelled).toEqual(["farm-2"])
})

test("registerRunningTask: a plugin that does not take the work refuses it, and there is no task", async () => {
  const { runtime } = await openFarm([])
  const refused = runtime.tasks.adopt(CALL, Promise.resolve("a picture"))
  await expect(refused).rejects.toMatchObject({ code: "not_background_capable" })
  expect((await runtime.tasks.list({})).items).toEqual([])
})

test("cleanupCompleted: the plugin is told now and then how long used results are kept", async () => {
  const told: (number | undefined)[] = []
  const behaviour = {
    async cleanupCompleted(maxAgeSeconds?: number) {
      told.push(maxAgeSeconds)
      if (told.length === 1) throw new Error("no route")
      return 0
    },
  }
  const { clock } = await openFarm([], behaviour, { background: { completedTaskRetentionSeconds: 120 } })
  await eventually("it was told twice", () => {
    clock.advance(60_000)
    return told.length >= 2
  })
  expect(told.slice(0, 2)).toEqual([120, 120])
})
