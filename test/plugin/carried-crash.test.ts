import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import type { SessionId } from "../../src/task/id.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import type { Operation } from "../../src/task/operation.ts"
import type { TaskRecord } from "../../src/task/record.ts"
import { call } from "../support/background/open-background.ts"
import { lastSaid } from "../support/session/open-agent.ts"
import { beginLife, type LifeOptions, type LivingRuntime } from "../support/session/lives.ts"
import { eventually } from "../support/eventually.ts"
import { hasEvent } from "../support/intercept-commits.ts"
import { createRenderFarm, type RenderFarm } from "../support/render-farm.ts"
import { createFolder } from "../support/workplace.ts"

const SESSION = "11111111-1111-4111-8111-111111111111" as SessionId
const START = call("startBackgroundTask", { tool_name: "render", arguments: { scene: "dawn" } })

const hasStep = (operations: readonly Operation[], op: "step.start" | "step.finish"): boolean =>
  operations.some((one) => one.op === op && one.key === "start-elsewhere")

async function begin(
  { folder, farm }: { readonly folder: string; readonly farm: RenderFarm },
  number: number,
  script: readonly ScriptStep[],
  ending?: LifeOptions["ending"],
  behaviour: Parameters<RenderFarm["connect"]>[0] = {},
): Promise<LivingRuntime> {
  const plugins = [farm.connect(behaviour), createBackgroundPlugin({ vocabulary: "jaato" })]
  return beginLife(folder, number, { script, tools: [], plugins, ...(ending && { ending }) })
}

/** The first life starts the work elsewhere and ends at this commit. */
async function dieAt(ending: NonNullable<LifeOptions["ending"]>, behaviour: Parameters<RenderFarm["connect"]>[0] = {}) {
  const place = { folder: createFolder(), farm: createRenderFarm() }
  const first = await begin(place, 1, [START, "It renders.", "never"], ending, behaviour)
  const session = await first.runtime.createSession({ id: SESSION })
  void session.send("render it").catch(() => {})
  return { ...place, first }
}

async function findTask({ runtime }: LivingRuntime): Promise<TaskRecord | null> {
  const { items } = await runtime.tasks.list({ session: SESSION, kinds: ["tool"] })
  return items[0] ? (await runtime.tasks.get(items[0].id)).task : null
}

const ended = (life: LivingRuntime): Promise<TaskRecord> =>
  eventually("the task ends", async () => {
    const task = await findTask(life)
    return task && isTerminal(task.status) && task
  })

test("after a crash behind the start the work is found by its id there, and its end is told once", async () => {
  const place = await dieAt({ when: "after", isHere: (operations) => hasStep(operations, "step.finish") })
  await place.first.life.over
  const next = await begin(place, 2, ["It is done.", "Nothing new.", "Nothing."])
  const session = await next.runtime.openSession(SESSION)
  expect(await findTask(next)).toMatchObject({ status: "running" })
  place.farm.end(1, { result: "a picture" })
  expect(await ended(next)).toMatchObject({ status: "completed", patch: { payload: "a picture" } })
  expect(place.farm.tasks).toHaveLength(1)
  await session.send("and?")
  await session.send("and now?")
  const told = next.model.requests.map((_, index) => lastSaid(next.model, index))
  expect(told.filter((text) => text.includes("a picture"))).toHaveLength(1)
})

test("work that ended while Meanwhile was down is told of all the same", async () => {
  const place = await dieAt({ when: "after", isHere: (operations) => hasStep(operations, "step.finish") })
  await place.first.life.over
  place.farm.end(1, { result: "a picture" })
  const next = await begin(place, 2, [])
  expect(await ended(next)).toMatchObject({ status: "completed", patch: { payload: "a picture" } })
})

test("after a crash before the start the next life starts the work, once", async () => {
  const place = await dieAt({ when: "before", isHere: (operations) => hasStep(operations, "step.start") })
  await place.first.life.over
  expect(place.farm.tasks).toEqual([])
  const next = await begin(place, 2, [])
  await place.farm.task(1)
  place.farm.end(1, { result: "a picture" })
  expect(await ended(next)).toMatchObject({ status: "completed" })
  expect(place.farm.tasks).toHaveLength(1)
})

test.each(["before", "after"] as const)(
  "after a crash %s the result is written it is asked for again, and nothing is started",
  async (when) => {
    const place = await dieAt({
      when,
      isHere: (operations) => hasEvent(operations, "task.completed") && isOfTask(operations),
    })
    await place.farm.task(1)
    place.farm.end(1, { result: "a picture" })
    await place.first.life.over
    const next = await begin(place, 2, [])
    expect(await ended(next)).toMatchObject({ status: "completed", patch: { payload: "a picture" } })
    expect(place.farm.tasks).toHaveLength(1)
  },
)

const isOfTask = (operations: readonly Operation[]): boolean =>
  operations.some((one) => one.op === "task.apply" && JSON.stringify(one.event).includes("a picture"))

test("after a crash inside the start the work is not started again: nobody can know whether it runs there", async () => {
  const place = await dieAt({ when: "before", isHere: (operations) => hasStep(operations, "step.finish") })
  await place.first.life.over
  const next = await begin(place, 2, [])
  expect(await ended(next)).toMatchObject({ status: "interrupted", failure: { code: "worker_lost" } })
  expect(place.farm.tasks).toHaveLength(1)
})

test("listTasks: after a crash inside the start the work is found there by the key of its call, and followed", async () => {
  const place = await dieAt({ when: "before", isHere: (operations) => hasStep(operations, "step.finish") })
  await place.first.life.over
  const { listTasks } = place.farm.connect()
  const keepsKeys = {
    listTasks: async () =>
      (await listTasks()).map((handle, index) => ({
        ...handle,
        metadata: { callKey: place.farm.tasks[index]?.callKey ?? "" },
      })),
  }
  const next = await begin(place, 2, [], undefined, keepsKeys)
  await eventually("it is taken over", async () => (await findTask(next))?.fence === 2)
  place.farm.end(1, { result: "a picture" })
  expect(await ended(next)).toMatchObject({ status: "completed", patch: { payload: "a picture" } })
  expect(place.farm.tasks).toHaveLength(1)
})

test("after a crash inside its start a tool that may be repeated is started again under the same key", async () => {
  const behaviour = { render: { onCrash: "retry" } } as const
  const place = await dieAt({ when: "before", isHere: (operations) => hasStep(operations, "step.finish") }, behaviour)
  await place.first.life.over
  await begin(place, 2, [], undefined, behaviour)
  const [first, again] = [await place.farm.task(1), await place.farm.task(2)]
  expect(again.callKey).toBe(first.callKey)
  expect(again.callKey).toMatch(/\S/)
})

test("work that is not known there any more fails as interrupted, and the text says what happened", async () => {
  const place = await dieAt({ when: "after", isHere: (operations) => hasStep(operations, "step.finish") })
  await place.first.life.over
  place.farm.forget(1)
  const next = await begin(place, 2, [])
  const message = expect.stringContaining("farm does not know its task farm-1 any more")
  expect(await ended(next)).toMatchObject({ status: "failed", failure: { code: "interrupted", message } })
  expect(place.farm.tasks).toHaveLength(1)
})

test("work that was being stopped at a crash is stopped there in the next life", async () => {
  const never = { cancel: () => new Promise<boolean>(() => {}) }
  const isStop = (operations: readonly Operation[]): boolean => hasEvent(operations, "task.stop_requested")
  const place = await dieAt({ when: "after", isHere: isStop }, never)
  await place.farm.task(1)
  const task = await eventually("the task is there", () => findTask(place.first))
  void place.first.runtime.tasks.cancel(task.id)
  await place.first.life.over
  expect(place.farm.cancelled).toEqual([])
  const next = await begin(place, 2, [])
  expect(await ended(next)).toMatchObject({ status: "cancelled", survivors: [] })
  expect(place.farm.cancelled).toEqual(["farm-1"])
})

test("work that was being stopped at a crash, and cannot be stopped there, has unknown survivors", async () => {
  const isStop = (operations: readonly Operation[]): boolean => hasEvent(operations, "task.stop_requested")
  const place = await dieAt({ when: "after", isHere: isStop })
  await place.farm.task(1)
  const task = await eventually("the task is there", () => findTask(place.first))
  void place.first.runtime.tasks.cancel(task.id)
  await place.first.life.over
  const next = await begin(place, 2, [], undefined, { cancel: () => Promise.reject(new Error("no route")) })
  expect(await ended(next)).toMatchObject({ status: "cancelled", survivors: "unknown" })
})

test("more work than may run at once is taken over whole: none of it shows as queued", async () => {
  const place = { folder: createFolder(), farm: createRenderFarm() }
  const first = await begin(place, 1, [])
  const render = { tool: "render", input: {} }
  await Promise.all([1, 2, 3, 4].map(() => first.runtime.tasks.start(render)))
  const fifth = first.runtime.tasks.execute(render)
  await place.farm.task(5)
  expect(await fifth.promote()).toBe(true)
  const ids = (await first.runtime.tasks.list({})).items.map(({ id }) => id)
  const steps = await Promise.all(ids.map((id) => first.store.steps(id, 1)))
  expect(steps.flat().map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => "finished"))
  first.life.end()
  const next = await begin(place, 2, [])
  const statuses = async () => (await next.runtime.tasks.list({})).items.map(({ status }) => status)
  expect(await statuses()).toEqual(Array.from({ length: 5 }, () => "running"))
  await Promise.all(ids.map((id) => next.runtime.tasks.cancel(id)))
  await eventually("all have ended", async () => (await statuses()).every(isTerminal))
  expect(place.farm.cancelled).toHaveLength(5)
})

test("a clean shutdown stops work that lives with the runtime, and lets go of work that lives forever", async () => {
  const place = { folder: createFolder(), farm: createRenderFarm() }
  const first = await begin(place, 1, [])
  const toCall = (scene: string) => ({ tool: "render", input: { scene } })
  await first.runtime.tasks.start(toCall("short"))
  const { id } = await first.runtime.tasks.start({ ...toCall("long"), lifetime: "forever" })
  await place.farm.task(2)
  await first.runtime.close()
  first.life.end()
  expect(place.farm.cancelled).toEqual(["farm-1"])
  const next = await begin(place, 2, [])
  await eventually("it is taken over", async () => (await next.runtime.tasks.get(id)).task.fence > 1)
  place.farm.end(2, { result: "a film" })
  const { task } = await next.runtime.tasks.result(id, { waitMs: 1_000_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: "a film" } })
  expect(place.farm.tasks).toHaveLength(2)
})
