import { readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { startPiped } from "../support/program.ts"
import { createMachines, leaveCommands } from "../support/two-machines.ts"
import { createFolder } from "../support/workplace.ts"

/** For a worker that others should soon find dead. */
const background = { leaseSeconds: 0.5 }
const COMMAND = "echo begun; until test -e go; do sleep 0.05; done; echo over"

/**
 * A runtime that only looks, a machine that takes over what others leave, and a worker in its own folder that was stopped
 * while a command ran that outlives it.
 */
async function createLeft() {
  const { open, url } = await createMachines()
  const { runtime, folder } = await open({ takesWork: false })
  const directory = createFolder()
  const start = () =>
    startPiped({
      directory,
      arguments: ["worker", "--verbose"],
      environment: { MEANWHILE_ENGINE: url },
    })
  const worker = start()
  const input = { command: COMMAND }
  const { id } = await runtime.tasks.start({ tool: "run_command", input, lifetime: "forever" })
  await eventually("it runs", async () => (await runtime.tasks.output(id)).text.includes("begun"))
  const other = await open()
  worker.kill("SIGTERM")
  expect(await worker.exited).toBe(0)
  const letGo = (): void => writeFileSync(join(folder, "go"), "")
  return { open, runtime, other, directory, start, id, letGo }
}

test("other machines leave a task that outlives a stopped worker to the next worker of its folder", async () => {
  const { open, runtime, other, start, id, letGo } = await createLeft()
  const lost = await open({ background, isOver: () => true })
  const { id: after } = await lost.runtime.tasks.start({ tool: "run_command", input: { command: "exec sleep 1000" } })
  await lost.engine.close()
  // By then the other has looked for what is left, for longer than a lease.
  expect((await runtime.tasks.result(after, { waitMs: 30_000 })).task.status).toBe("interrupted")
  expect((await runtime.tasks.get(id)).task).toMatchObject({ status: "running", fence: 1 })
  expect(processesOf(id)).not.toEqual([])
  expect(await runtime.tasks.workers()).toHaveLength(2)
  const next = start()
  await eventually("it is adopted", async () => (await runtime.tasks.get(id)).task.fence === 2)
  letGo()
  expect((await other.runtime.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect((await other.runtime.tasks.output(id)).text).toBe("begun\nover\n")
  next.kill("SIGTERM")
  expect(await next.exited).toBe(0)
})

test("a machine of the same name and path leaves such a task alone, and it goes on where its folder is moved", async () => {
  const machines = await createMachines()
  const folder = createFolder()
  const moved = `${createFolder()}/moved`
  const [id = ""] = await leaveCommands(machines, { folder })
  renameSync(folder, moved)
  const another = await machines.open({ folder })
  const lost = await machines.open({ background, isOver: () => true })
  const { id: after } = await lost.runtime.tasks.start({ tool: "run_command", input: { command: "exec sleep 1000" } })
  await lost.engine.close()
  // By then the other has looked for what is left, for longer than a lease.
  expect((await another.runtime.tasks.result(after, { waitMs: 30_000 })).task.status).toBe("interrupted")
  expect((await another.runtime.tasks.get(id)).task).toMatchObject({ status: "running", fence: 1 })
  const next = await machines.open({ folder: moved })
  await eventually("it is adopted", async () => (await next.runtime.tasks.get(id)).task.fence === 2)
  expect(processesOf(id)).not.toEqual([])
  await next.runtime.tasks.cancel(id)
  expect((await next.runtime.tasks.result(id, { waitMs: 30_000 })).task).toMatchObject({
    status: "cancelled",
    survivors: [],
  })
})

test("such a task can be stopped while its machine is away, and the next worker there ends the task's processes", async () => {
  const { runtime, directory, start, id } = await createLeft()
  await runtime.tasks.cancel(id, { by: "person", reason: "enough" })
  const { task } = await runtime.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "cancelled", survivors: "unknown", stop: { reason: "enough" } })
  expect(processesOf(id)).not.toEqual([])
  const next = start()
  await eventually("nothing of it runs", () => processesOf(id).length === 0)
  await eventually("nothing of it is left", () => {
    const files = readdirSync(directory, { recursive: true, encoding: "utf8" })
    return files.every((path) => !path.includes(id))
  })
  next.kill("SIGTERM")
  expect(await next.exited).toBe(0)
})

test("a program that takes only its own work, even alone, ends the tasks of an absent machine that it stops", async () => {
  const machines = await createMachines()
  const [id = ""] = await leaveCommands(machines)
  const { runtime } = await machines.open({ takesWork: "own" })
  await runtime.tasks.cancel(id)
  const { task } = await runtime.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "cancelled", survivors: "unknown" })
})

test("in the folder of that machine such a program also ends the processes, and leaves other tasks there alone", async () => {
  const machines = await createMachines()
  const folder = createFolder()
  const ids = await leaveCommands(machines, { folder }, 2)
  const [id = "", left = ""] = ids
  const { runtime } = await machines.open({ folder, takesWork: "own" })
  await runtime.tasks.cancel(id)
  const { task } = await runtime.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "cancelled", survivors: [] })
  expect(processesOf(id)).toEqual([])
  expect((await runtime.tasks.get(left)).task).toMatchObject({ status: "running", fence: 1 })
  expect(processesOf(left)).not.toEqual([])
})
