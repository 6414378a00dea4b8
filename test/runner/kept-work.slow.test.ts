import { existsSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { isAlive, processesOf } from "../support/processes.ts"
import { testOfFile } from "../support/test-engine.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const KEEP = { work: "keep" } as const
const HOUR_MS = 3_600_000
const UNTIL_TOLD = "echo begun; until test -e go; do sleep 0.02; done; echo ended; exit 4"
/** A command may have a time limit of less than the usual threshold. */
const QUICK = { thresholdSeconds: 0.1, stopGraceSeconds: 1 }

const runCommand = (command: string) => ({ tool: "run_command", input: { command } })

test("close that keeps work leaves commands running, and the next runtime has their output and exit code", async () => {
  const { meanwhile, another, directory } = await createWorkplace()
  const { id } = await meanwhile.tasks.start(runCommand(UNTIL_TOLD))
  await meanwhile.tasks.waitForOutput(id, { pattern: /begun/, timeoutMs: 30_000 })
  const left = await meanwhile.close(KEEP)
  expect(left).toMatchObject({ kept: [{ id, status: "running" }], stopped: [] })
  expect(processesOf(id).length).toBeGreaterThan(0)
  const second = await another()
  writeFileSync(join(directory, "go"), "")
  const { task } = await second.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({
    status: "failed",
    run: 1,
    patch: { payload: { exitCode: 4, output: "begun\nended\n" } },
  })
})

testOfFile("a command that ended while nobody watched has run until it ended, and not until it was found", async () => {
  const begunAt = Date.now() - HOUR_MS
  const { meanwhile, another, directory } = await createWorkplace({ clock: createManualClock(begunAt) })
  const { id } = await meanwhile.tasks.start({ ...runCommand(UNTIL_TOLD), lifetime: "forever" })
  await eventually("it runs", async () => (await meanwhile.tasks.output(id)).text.includes("begun"))
  await meanwhile.close(KEEP)
  writeFileSync(join(directory, "go"), "")
  await eventually("it has ended", () => processesOf(id).length === 0)
  const endedAt = new Date(begunAt + HOUR_MS / 4)
  utimesSync(join(directory, "data", "spool", id, "1", "process-1"), endedAt, endedAt)
  const second = await another({ clock: createManualClock(begunAt + HOUR_MS) })
  const { task } = await second.tasks.result(id, { waitMs: 20_000 })
  expect(task.status).toBe("failed")
  expect(task.ranMs).toBeGreaterThan(HOUR_MS / 5)
  expect(task.ranMs).toBeLessThan(HOUR_MS / 3)
})

test("close that keeps work hands repeatable tools and agents back, and stops and names what may not be repeated", async () => {
  const repeatable = createGatedTool({ name: "repeatable", onCrash: "retry", obeys: true })
  const single = createGatedTool({ name: "single", obeys: true })
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const tools = [repeatable.tool, single.tool, agent.tool]
  const { meanwhile, another } = await createWorkplace({ tools })
  const start = async (tool: string) => (await meanwhile.tasks.start({ tool, input: {} })).id
  const ids = { repeatable: await start("repeatable"), single: await start("single"), agent: await start("agent") }
  await Promise.all([repeatable.call(1), single.call(1), agent.call(1)])
  const left = await meanwhile.close(KEEP)
  expect(new Map(left.kept.map(({ id, status }) => [id, status]))).toEqual(
    new Map([
      [ids.repeatable, "queued"],
      [ids.agent, "queued"],
    ]),
  )
  expect(left.stopped).toMatchObject([
    {
      id: ids.single,
      status: "cancelled",
      stop: { by: "shutdown", reason: expect.stringMatching(/may not be repeated/) },
    },
  ])
  const second = await another()
  for (const gated of [repeatable, agent]) (await gated.call(2)).finish("whole")
  for (const id of [ids.repeatable, ids.agent])
    expect((await second.tasks.result(id, { waitMs: 20_000 })).task).toMatchObject({ status: "completed", run: 1 })
  expect(single.calls).toHaveLength(1)
})

test("the time limit of a kept command is held although no runtime is open, and the next one says so", async () => {
  const { meanwhile, another } = await createWorkplace({ background: QUICK })
  const { id } = await meanwhile.tasks.start({ ...runCommand("echo begun; sleep 300"), timeoutMs: 1_500 })
  await meanwhile.tasks.waitForOutput(id, { pattern: /begun/, timeoutMs: 30_000 })
  await meanwhile.close(KEEP)
  const pids = processesOf(id)
  expect(pids.length).toBeGreaterThan(0)
  await eventually("it is stopped", () => !pids.some(isAlive))
  const second = await another()
  const { task } = await second.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "timed_out", stop: { by: "deadline" } })
})

test("a limit that was changed before the command was left, or while no process runs it, reaches the guard", async () => {
  const { meanwhile, another } = await createWorkplace({ background: QUICK })
  const start = async (timeoutMs: number) => {
    const { id } = await meanwhile.tasks.start({ ...runCommand("echo begun; sleep 300"), timeoutMs })
    await meanwhile.tasks.waitForOutput(id, { pattern: /begun/, timeoutMs: 30_000 })
    return id
  }
  const [longer, unlimited, shorter, before] = [
    await start(3_000),
    await start(3_000),
    await start(600_000),
    await start(600_000),
  ]
  await meanwhile.tasks.limit(before, 3_000)
  await meanwhile.close(KEEP)
  const looking = await another({ takesWork: false })
  await looking.tasks.limit(longer, 600_000)
  await looking.tasks.limit(unlimited, null)
  await looking.tasks.limit(shorter, 3_000)
  await looking.close()
  const late = [shorter, before]
  await eventually("the limit of two is over", () => late.every((id) => processesOf(id).length === 0))
  const second = await another()
  for (const id of late)
    expect((await second.tasks.result(id, { waitMs: 20_000 })).task).toMatchObject({
      status: "timed_out",
      stop: { by: "deadline", reason: "it ran longer than its limit of 3 s" },
    })
  for (const id of [longer, unlimited]) {
    expect((await second.tasks.get(id)).task.status).toBe("running")
    expect(processesOf(id).length).toBeGreaterThan(0)
    await second.tasks.cancel(id)
  }
})

testOfFile("a kept command that ended in time is no late one, however long nobody looked", async () => {
  const clock = createManualClock()
  const { meanwhile, another, directory } = await createWorkplace({ background: QUICK, clock })
  const { id } = await meanwhile.tasks.start({
    ...runCommand(`echo begun; ${UNTIL_TOLD}; touch gone`),
    timeoutMs: 60_000,
  })
  await eventually("it runs", () => processesOf(id).length > 0)
  await meanwhile.close(KEEP)
  writeFileSync(join(directory, "go"), "")
  await eventually("it has ended", () => processesOf(id).length === 0)
  expect(existsSync(join(directory, "gone"))).toBe(false)
  clock.advance(3_600_000)
  const second = await another({ clock })
  const ended = await eventually("its end is known", async () => {
    const { task } = await second.tasks.get(id)
    clock.advance(100)
    return "endedAt" in task && task
  })
  expect(ended).toMatchObject({ status: "failed", patch: { payload: { exitCode: 4 } } })
})

test("a runtime without a data folder refuses to keep work, by name, and can still be closed", async () => {
  const meanwhile = await createRuntime()
  await expect(meanwhile.close(KEEP)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/needs a data folder/),
  })
  await meanwhile.close()
})
