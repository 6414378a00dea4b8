import { existsSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { createTestDatabase } from "../support/postgres/server.ts"
import type { OutputRequest } from "../../src/plugin/output.ts"
import type { TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createMachines, type Machine, type MachineOptions } from "../support/two-machines.ts"
import { createGatedTool } from "../support/tools.ts"

// The first database starts the server. Made here, so that no test has to wait for it.
beforeAll(async () => (await createTestDatabase()).drop())

/** A task that runs on one machine, and another machine from which it is looked at. */
async function startElsewhere(options: MachineOptions = {}) {
  const gated = createGatedTool()
  const { open } = await createMachines()
  const looking = await open({ tools: [gated.tool], takesWork: false })
  const host = await open({ ...options, tools: [gated.tool] })
  const { id } = await looking.runtime.tasks.start({ tool: "gated", input: {} })
  const call = await gated.call(1)
  return { id, call, host, looking, gated, open }
}

/** Waits until this many bytes can be read in the runtime. */
function printed({ tasks }: Runtime, id: TaskId, totalBytes: number) {
  return eventually(`${totalBytes} bytes are there`, async () => (await tasks.output(id)).totalBytes === totalBytes)
}

const REQUESTS: readonly OutputRequest[] = [
  {},
  { offset: 7 },
  { offset: 3, limitBytes: 9 },
  { tailBytes: 12 },
  { filter: "t" },
  { filter: /^t/, offset: 6 },
  { offset: 10_000 },
]

test("what a task prints is read on another machine as where it runs, while it runs and afterwards", async () => {
  const { id, call, host, looking } = await startElsewhere()
  const text = "one\nzwölf\ntwo\nthirteen\nand the rest"
  call.context.output.write(text)
  await printed(looking.runtime, id, Buffer.byteLength(text))
  const read = async ({ runtime }: Machine) => Promise.all(REQUESTS.map((request) => runtime.tasks.output(id, request)))
  expect(await read(looking)).toEqual(await read(host))
  expect((await looking.runtime.tasks.output(id)).text).toBe(text)
  expect(await looking.runtime.tasks.get(id)).toMatchObject({ outputBytes: 36, lastLine: "and the rest" })
  call.finish()
  await looking.runtime.tasks.result(id, { waitMs: 30_000 })
  expect(await read(looking)).toEqual(await read(host))
  expect(await looking.runtime.tasks.output(id)).toMatchObject({ text, isComplete: true, droppedBefore: null })
})

test("a reader who sees the end sees all that was printed, and no output stays with the worker that ran the task", async () => {
  const { id, call, host, looking } = await startElsewhere()
  const lines = Array.from({ length: 50_000 }, (_, index) => `line ${index}\n`).join("")
  const ended = looking.runtime.tasks.result(id, { waitMs: 20_000 })
  call.context.output.write(lines)
  call.finish()
  expect((await ended).task.status).toBe("completed")
  const { text } = await looking.runtime.tasks.output(id, { limitBytes: 8 * 1_024 * 1_024 })
  expect(text).toBe(lines)
  await eventually("the files are gone", () => !existsSync(join(host.folder, "spool", id)))
  expect((await host.runtime.tasks.output(id, { tailBytes: 11 })).text).toBe("line 49999\n")
})

test("a text is waited for on another machine, and not found when the task ends without it", async () => {
  const { id, call, looking } = await startElsewhere()
  const { tasks } = looking.runtime
  const waiting = tasks.waitForOutput(id, { pattern: /ready on port \d+/, timeoutMs: 20_000 })
  call.context.output.write("starting\n")
  call.context.output.write("ready on port 8080\n")
  expect(await waiting).toEqual({ outcome: "matched", line: "ready on port 8080", offset: 9, nextOffset: 28 })
  const prompt = tasks.waitForOutput(id, { pattern: "[y/n]", timeoutMs: 20_000 })
  call.context.output.write("Continue? [y/n] ")
  expect(await prompt).toMatchObject({ outcome: "matched", line: "Continue? [y/n] " })
  const inVain = tasks.waitForOutput(id, { pattern: "never", timeoutMs: 20_000 })
  call.finish()
  expect(await inVain).toMatchObject({ outcome: "ended" })
})

test("bytes that the cap drops are gone on every machine alike", async () => {
  const { id, call, host, looking } = await startElsewhere({ background: { outputLimitBytes: 4_096 } })
  call.context.output.write("0123456789".repeat(1_000))
  await eventually("something was dropped", async () => (await host.runtime.tasks.output(id)).droppedBefore !== null)
  call.finish()
  await looking.runtime.tasks.result(id, { waitMs: 30_000 })
  const chunk = await looking.runtime.tasks.output(id)
  expect(chunk).toMatchObject({ totalBytes: 10_000, isComplete: true })
  expect(chunk.droppedBefore).toBeGreaterThanOrEqual(10_000 - 4_096)
  expect(chunk.text).toBe("0123456789".repeat(1_000).slice(Number(chunk.droppedBefore)))
  expect(await host.runtime.tasks.output(id)).toEqual(chunk)
})

test("no secret reaches the store", async () => {
  const { id, call, looking } = await startElsewhere()
  const secret = `sk-${"a1b2c3d4".repeat(4)}`
  call.context.output.write(`the key is ${secret.slice(0, 12)}`)
  call.context.output.write(`${secret.slice(12)} and that is all\n`)
  call.finish()
  await looking.runtime.tasks.result(id, { waitMs: 30_000 })
  const kept = await looking.engine.outputs?.read(id, 1, 0, 1_000)
  expect(Buffer.from(kept ?? []).toString()).toBe(`the key is ${"*".repeat(secret.length)} and that is all\n`)
})

test("output from before a call moved to the background can be read there, too", async () => {
  const gated = createGatedTool()
  const { open } = await createMachines()
  const looking = await open({ tools: [gated.tool], takesWork: false })
  const host = await open({ tools: [gated.tool] })
  const execution = host.runtime.tasks.execute({ tool: "gated", input: {} })
  const call = await gated.call(1)
  call.context.output.write("in the foreground\n")
  await execution.promote()
  call.context.output.write("in the background\n")
  await printed(looking.runtime, execution.taskId, 36)
  call.finish()
})

test("output that was cleared away is reported as gone", async () => {
  const { id, call, looking } = await startElsewhere()
  call.context.output.write("hello\n")
  call.finish()
  await looking.runtime.tasks.result(id, { waitMs: 30_000, consume: true })
  await looking.engine.store.commit([{ op: "task.strip", taskId: id }])
  expect(await looking.runtime.tasks.output(id)).toMatchObject({ text: "", droppedBefore: "all" })
})
