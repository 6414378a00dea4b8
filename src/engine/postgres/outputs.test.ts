import pg from "pg"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { Wake } from "../../task/bus.ts"
import type { Engine } from "../../task/engine.ts"
import type { OutputPart, Outputs } from "../../task/outputs.ts"
import type { TaskRecord } from "../../task/record.ts"
import { applyEvents, COMPLETED, createTask, RUNNING, STARTED } from "../suite/samples.ts"
import type { EngineSubject } from "../suite/subject.ts"
import { createTestPostgres } from "../../../test/support/postgres/engine.ts"

let subject: EngineSubject & { readonly url: string }
let engine: Engine
let outputs: Outputs

beforeAll(async () => {
  subject = await createTestPostgres()
  engine = subject.engine
  outputs = outputsOf(engine)
})
afterAll(() => subject.dispose())

function outputsOf({ outputs: port }: Engine): Outputs {
  if (!port) throw new Error("The engine keeps no output.")
  return port
}

function toPart(task: TaskRecord, start: number, text: string, changes: Partial<OutputPart> = {}): OutputPart {
  const run = { taskId: task.id, run: task.run, fence: task.fence }
  return { run, start, bytes: Buffer.from(text), keepFrom: 0, ...changes }
}

async function textOf({ id, run }: TaskRecord, port: Outputs = outputs): Promise<string> {
  const { firstOffset = 0, totalBytes = 0 } = (await port.extent(id, run)) ?? {}
  return Buffer.from(await port.read(id, run, firstOffset, totalBytes)).toString()
}

/** Queries the store beside the engine. */
async function ask<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
  const client = new pg.Client(subject.url)
  await client.connect()
  try {
    return (await client.query<Row>(text, [...values])).rows
  } finally {
    await client.end()
  }
}

test("another process can read any part of what a run prints", async () => {
  const task = await createTask(engine, RUNNING)
  expect(await outputs.extent(task.id, 1)).toBeUndefined()
  await outputs.append(toPart(task, 0, "hello "))
  await outputs.append(toPart(task, 6, "world"))
  const other = outputsOf(await subject.another())
  expect(await other.extent(task.id, 1)).toEqual({ firstOffset: 0, totalBytes: 11, restarts: [] })
  expect(await textOf(task, other)).toBe("hello world")
  expect(Buffer.from(await other.read(task.id, 1, 4, 8)).toString()).toBe("o wo")
})

test("any bytes are kept as they are, a piece of more than a row too", async () => {
  const task = await createTask(engine, RUNNING)
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256))
  await outputs.append(toPart(task, 0, "", { bytes }))
  expect(await outputs.extent(task.id, 1)).toEqual({ firstOffset: 0, totalBytes: 200_000, restarts: [] })
  expect(bytes.equals(await outputs.read(task.id, 1, 0, 200_000))).toBe(true)
  expect(bytes.subarray(65_530, 65_540).equals(await outputs.read(task.id, 1, 65_530, 65_540))).toBe(true)
})

test("a piece that is sent again, because nobody answered, is there once", async () => {
  const task = await createTask(engine, RUNNING)
  await outputs.append(toPart(task, 0, "once"))
  await outputs.append(toPart(task, 0, "once, and more"))
  await outputs.append(toPart(task, 0, "once"))
  await outputs.append(toPart(task, 14, " behind it"))
  expect(await textOf(task)).toBe("once, and more behind it")
})

test("two processes that send the same output under one claim store it once, however they cut it", async () => {
  const task = await createTask(engine, RUNNING)
  const other = outputsOf(await subject.another())
  const text = Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join("")
  async function send(port: Outputs, pieceBytes: number): Promise<void> {
    for (let start = 0; start < text.length; start += pieceBytes) {
      await port.append(toPart(task, start, text.slice(start, start + pieceBytes)))
    }
  }
  await Promise.all([send(outputs, 3), send(other, 7), send(other, text.length)])
  expect(await textOf(task)).toBe(text)
})

test("output that an earlier version stored twice is read once", async () => {
  const task = await createTask(engine, RUNNING)
  const pieces = [
    { start: 0, text: "01" },
    { start: 1, text: "1" },
    { start: 2, text: "012345" },
  ]
  for (const { start, text } of pieces) {
    await ask(
      `INSERT INTO meanwhile.outputs (task, run, start, stop, bytes)
       SELECT number, 1, $2::bigint, $2::bigint + length($3), convert_to($3, 'UTF8') FROM meanwhile.tasks WHERE id = $1`,
      [task.id, start, text],
    )
  }
  expect(await textOf(task)).toBe("01012345")
  expect(Buffer.from(await outputs.read(task.id, 1, 1, 4)).toString()).toBe("101")
})

test("a claim that begins the run anew is told where, once, and no earlier claim adds anything before it", async () => {
  const task = await createTask(engine, RUNNING)
  await outputs.append(toPart(task, 0, "01"))
  const again = await applyEvents(engine, task.id, { type: "task.released", reason: "lost_worker" }, STARTED)
  const run = { taskId: task.id, run: 1, fence: again.fence }
  const refused = expect(outputs.append(toPart(task, 2, "late"))).rejects.toMatchObject({ code: "stale_claim" })
  expect(await outputs.restart(run)).toBe(2)
  await refused
  await outputs.append(toPart(again, 2, "012345"))
  expect(await outputs.restart(run)).toBe(2)
  expect(await outputs.extent(task.id, 1)).toEqual({ firstOffset: 0, totalBytes: 8, restarts: [2] })
  await expect(outputs.restart({ ...run, fence: 1 })).rejects.toMatchObject({ code: "stale_claim" })
  await applyEvents(engine, task.id, COMPLETED)
  await expect(outputs.restart(run)).rejects.toMatchObject({ code: "stale_claim" })
  await engine.store.commit([{ op: "task.strip", taskId: task.id }])
  expect(
    await ask("SELECT FROM meanwhile.output_restarts JOIN meanwhile.tasks ON task = number AND id = $1", [task.id]),
  ).toEqual([])
})

test("output below keepFrom is dropped to the byte, even if it was never sent", async () => {
  const task = await createTask(engine, RUNNING)
  await outputs.append(toPart(task, 0, "abcde"))
  await outputs.append(toPart(task, 5, "fghij"))
  await outputs.append(toPart(task, 10, "kl", { keepFrom: 7 }))
  expect(await outputs.extent(task.id, 1)).toEqual({ firstOffset: 7, totalBytes: 12, restarts: [] })
  expect(await textOf(task)).toBe("hijkl")
  expect(await outputs.read(task.id, 1, 5, 12)).toHaveLength(0)
  await outputs.append(toPart(task, 100, "xyz", { keepFrom: 100 }))
  expect(await outputs.extent(task.id, 1)).toEqual({ firstOffset: 100, totalBytes: 103, restarts: [] })
})

test("nobody writes for a run that was claimed anew, has ended or is another one", async () => {
  const task = await createTask(engine, RUNNING)
  await outputs.append(toPart(task, 0, "before"))
  const again = await applyEvents(engine, task.id, { type: "task.released", reason: "lost_worker" }, STARTED)
  await expect(outputs.append(toPart(task, 6, " stale"))).rejects.toMatchObject({ code: "stale_claim" })
  await outputs.append(toPart(again, 6, " and after"))
  await applyEvents(engine, task.id, COMPLETED)
  await expect(outputs.append(toPart(again, 16, " late"))).rejects.toMatchObject({ code: "stale_claim" })
  expect(await textOf(task)).toBe("before and after")
})

test("of runs that print at once, the claimed ones are written and the others refused", async () => {
  const tasks = await Promise.all(Array.from({ length: 20 }, () => createTask(engine, RUNNING)))
  const ended = new Set(tasks.filter((_, index) => index % 5 === 0))
  for (const { id } of ended) await applyEvents(engine, id, COMPLETED)
  const answers = await Promise.allSettled(tasks.map((task) => outputs.append(toPart(task, 0, task.id))))
  expect(answers.map(({ status }) => status)).toEqual(tasks.map((task) => (ended.has(task) ? "rejected" : "fulfilled")))
  for (const task of tasks) expect(await textOf(task)).toBe(ended.has(task) ? "" : task.id)
})

test("a task that somebody holds keeps no other one waiting, and is written once it is free", async () => {
  const [held, free] = [await createTask(engine, RUNNING), await createTask(engine, RUNNING)]
  const holder = new pg.Client(subject.url)
  await holder.connect()
  await holder.query("BEGIN")
  await holder.query("SELECT FROM meanwhile.tasks WHERE id = $1 FOR UPDATE", [held.id])
  const waiting = outputs.append(toPart(held, 0, "held"))
  await outputs.append(toPart(free, 0, "free"))
  expect(await textOf(held)).toBe("")
  await holder.query("COMMIT")
  await holder.end()
  await waiting
  expect(await textOf(held)).toBe("held")
})

test("several held tasks with much to write keep no other one waiting", async () => {
  const held = await Promise.all(Array.from({ length: 6 }, () => createTask(engine, RUNNING)))
  const free = await createTask(engine, RUNNING)
  const holder = new pg.Client(subject.url)
  await holder.connect()
  await holder.query("BEGIN")
  await holder.query("SELECT FROM meanwhile.tasks WHERE id = ANY ($1) FOR UPDATE", [held.map(({ id }) => id)])
  const text = "x".repeat(256 * 1_024)
  const waiting = held.map((task) => outputs.append(toPart(task, 0, text)))
  await outputs.append(toPart(free, 0, "free"))
  await holder.query("COMMIT")
  await holder.end()
  await Promise.all(waiting)
  for (const task of held) expect((await outputs.extent(task.id, 1))?.totalBytes).toBe(text.length)
})

test("closing does not wait for a task that somebody holds", async () => {
  const task = await createTask(engine, RUNNING)
  const other = await subject.another()
  const holder = new pg.Client(subject.url)
  await holder.connect()
  await holder.query("BEGIN")
  await holder.query("SELECT FROM meanwhile.tasks WHERE id = $1 FOR UPDATE", [task.id])
  const waiting = outputsOf(other).append(toPart(task, 0, "held"))
  const refused = expect(waiting).rejects.toMatchObject({ code: "closed" })
  await other.close()
  await refused
  await holder.end()
})

test("other processes are told that a task has printed, and not what", async () => {
  const task = await createTask(engine, RUNNING)
  const other = await subject.another()
  const told = new Promise<Wake>((resolve) => {
    other.bus.subscribe((wake) => wake.about === "output" && wake.taskId === task.id && resolve(wake))
  })
  await outputs.append(toPart(task, 0, "hello"))
  expect(await told).toEqual({ about: "output", taskId: task.id })
})

test("output is deleted when its task is stripped or removed, by whichever version", async () => {
  const rows = (number: number) => ask("SELECT FROM meanwhile.outputs WHERE task = $1", [number])
  for (const take of ["task.strip", "task.remove", "by hand"] as const) {
    const task = await createTask(engine, RUNNING)
    const [found] = await ask<{ number: number }>("SELECT number FROM meanwhile.tasks WHERE id = $1", [task.id])
    await outputs.append(toPart(task, 0, "hello"))
    await applyEvents(engine, task.id, COMPLETED)
    expect(await rows(found?.number ?? 0)).toHaveLength(1)
    if (take === "by hand") await ask("DELETE FROM meanwhile.tasks WHERE id = $1", [task.id])
    else await engine.store.commit([{ op: take, taskId: task.id }])
    expect(await rows(found?.number ?? 0)).toEqual([])
    expect(await outputs.extent(task.id, 1)).toBeUndefined()
  }
})
