import { expect, test } from "vitest"
import type { WaitRequest } from "../../src/plugin/wait-request.ts"
import { createTaskId, createWaitId } from "../../src/task/id.ts"
import { createGroupDesk, type GroupDesk } from "../support/group-desk.ts"

/** Long enough that a wait ends only by what it waits for. */
const LONG_MS = 1e9

async function startThree(desk: GroupDesk): Promise<[string, string, string]> {
  const [one, two, three] = await Promise.all([desk.start("one"), desk.start("two"), desk.start("three")])
  return [one.id, two.id, three.id]
}

async function needAnswer({ engine, start }: GroupDesk): Promise<string> {
  const later = await start("later", { delayMs: 1e9 })
  const wait = { id: createWaitId(), reason: "person", question: "Go on?", expiresAt: null, onExpiry: null } as const
  const details = { ...later, id: createTaskId() }
  await engine.store.commit([{ op: "task.create", details, entry: { as: "waiting", wait } }])
  return details.id
}

test("waiting for all, any or n of several tasks ends when so many have ended", async () => {
  const desk = await createGroupDesk()
  const [one, two, three] = await startThree(desk)
  const tasks = [one, two, three]
  const order: string[] = []
  const wait = async (until: NonNullable<WaitRequest["until"]>) => {
    const answer = await desk.runner.waitFor({ tasks, until, limitMs: LONG_MS })
    order.push(`${until}: ${answer.tasks.filter(({ task }) => task.status === "completed").length}`)
    return answer
  }
  const waits = [wait("all"), wait("any"), wait(2)]
  for (const [index, name] of ["two", "three", "one"].entries()) {
    await desk.finish(name)
    await waits[[1, 2, 0][index] ?? 0]
  }
  expect(order).toEqual(["any: 1", "2: 2", "all: 3"])
  expect((await waits[0])?.tasks.map(({ task }) => task.id)).toEqual(tasks)
  expect((await waits[0])?.reason).toBe("met")
})

test("a wait for a task that has already ended is over at once", async () => {
  const desk = await createGroupDesk()
  const { id } = await desk.start("one")
  await desk.finish("one")
  await desk.runner.result(id, { waitMs: LONG_MS })
  expect(await desk.runner.waitFor({ tasks: [id.slice(0, 8)], limitMs: 0 })).toMatchObject({
    reason: "met",
    tasks: [{ task: { status: "completed", patch: { payload: "one" } } }],
  })
})

test("a wait ends at its limit, and when it is released, and stops nothing", async () => {
  const desk = await createGroupDesk()
  const { id } = await desk.start("one")
  const { context } = await desk.call("one")
  const limited = desk.runner.waitFor({ tasks: [id], limitMs: 2_000 })
  const release = new AbortController()
  const released = desk.runner.waitFor({ tasks: [id], limitMs: LONG_MS, signal: release.signal })
  release.abort()
  expect(await released).toMatchObject({ reason: "released", tasks: [{ task: { status: "running" } }] })
  expect(await desk.passTime(limited)).toMatchObject({ reason: "time", tasks: [{ task: { status: "running" } }] })
  expect(context.signal.aborted).toBe(false)
})

test("a wait ends when one of the tasks needs an answer", async () => {
  const desk = await createGroupDesk()
  const { id } = await desk.start("one")
  const stuck = await needAnswer(desk)
  const answer = await desk.runner.waitFor({ tasks: [id, stuck], limitMs: LONG_MS })
  expect(answer).toMatchObject({ reason: "needs_answer", tasks: [{}, { task: { status: "waiting" } }] })
})

test("a wait for printed text ends with the line, or with the task", async () => {
  const desk = await createGroupDesk()
  const { id } = await desk.start("one")
  const ready = desk.runner.waitFor({ tasks: [id], pattern: "ready", limitMs: LONG_MS })
  const never = desk.runner.waitFor({ tasks: [id], pattern: "steady", limitMs: LONG_MS })
  const { context, finish } = await desk.call("one")
  context.output.write("starting\nready to go\n")
  expect(await ready).toMatchObject({ reason: "met", match: { outcome: "matched", line: "ready to go" } })
  finish("done")
  expect(await never).toMatchObject({ reason: "met", match: { outcome: "ended" }, tasks: [{ task: { run: 1 } }] })
})

test("a wait without time looks at what is printed already, also in a line that goes on", async () => {
  const desk = await createGroupDesk()
  const { id } = await desk.start("one")
  const look = (pattern: string) => desk.runner.waitFor({ tasks: [id], pattern, limitMs: 0 })
  const { context, finish } = await desk.call("one")
  expect(await look("ready")).toMatchObject({ reason: "time" })
  context.output.write("ready to go\nname> ")
  expect(await look("ready")).toMatchObject({ reason: "met", match: { outcome: "matched", line: "ready to go" } })
  expect(await look("name>")).toMatchObject({ reason: "met", match: { outcome: "matched" } })
  expect(await look("steady")).toMatchObject({ reason: "time" })
  finish("done")
  await desk.runner.result(id, { waitMs: LONG_MS })
  expect(await look("steady")).toMatchObject({ reason: "met", tasks: [{ task: { status: "completed" } }] })
})

test("a request that names nothing, too much or too many is refused", async () => {
  const desk = await createGroupDesk()
  const { id } = await desk.start("one")
  const group = (await desk.runner.groups.open({ name: "checks" })).id
  const wrong: Partial<WaitRequest>[] = [
    {},
    { tasks: [] },
    { tasks: [id], group },
    { tasks: [id], until: 2 },
    { tasks: [id], until: 0 },
    { tasks: [id], limitMs: -1 },
    { tasks: [id], limitMs: Number.NaN },
    { group, pattern: "x" },
    { tasks: [id, id], pattern: "x" },
  ]
  for (const request of wrong)
    await expect(desk.runner.waitFor({ limitMs: 5, ...request })).rejects.toMatchObject({ code: "invalid_input" })
  await expect(desk.runner.waitFor({ tasks: ["ffffffff"], limitMs: 5 })).rejects.toMatchObject({ code: "not_found" })
})

test("ended tasks count as used when the wait says so, and only then", async () => {
  const desk = await createGroupDesk()
  const [one, two, three] = await startThree(desk)
  await desk.finish("one")
  await desk.finish("two")
  const pending = async () => (await desk.engine.store.notices({ states: ["pending"] }, 9)).map(({ taskId }) => taskId)
  await desk.runner.waitFor({ tasks: [one, two], limitMs: LONG_MS })
  expect(new Set(await pending())).toEqual(new Set([one, two]))
  const used = await desk.runner.waitFor({ tasks: [one, three], until: "any", limitMs: LONG_MS, consume: true })
  expect(used.reason).toBe("met")
  expect(await pending()).toEqual([two])
  expect((await desk.runner.get(one)).task.retrievedAt).not.toBeNull()
})

test("a wait looks by itself when every wake-up is lost", async () => {
  const desk = await createGroupDesk({ background: { completionScanIntervalMs: 700 } })
  const { id } = await desk.start("one")
  await desk.call("one")
  Object.assign(desk.engine.bus, { subscribe: () => () => {} })
  const wait = desk.runner.waitFor({ tasks: [id], limitMs: LONG_MS })
  await desk.finish("one")
  await desk.runner.result(id, { waitMs: LONG_MS })
  expect((await desk.passTime(wait)).reason).toBe("met")
})
