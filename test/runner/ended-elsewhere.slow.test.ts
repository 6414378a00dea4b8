import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { startPiped } from "../support/program.ts"
import { createMachines } from "../support/two-machines.ts"
import { createFolder } from "../support/workplace.ts"

const background = { leaseSeconds: 1 }

/** A worker program in its own folder that has begun a command, and a runtime elsewhere that takes no work. */
async function createHost(command: string) {
  const { open, url } = await createMachines()
  const { runtime, folder } = await open({ takesWork: false })
  const directory = createFolder()
  const start = () =>
    startPiped({
      directory,
      arguments: ["worker", "--verbose"],
      environment: { MEANWHILE_ENGINE: url, MEANWHILE_BACKGROUND_LEASE_SECONDS: "1" },
    })
  const worker = start()
  const { id } = await runtime.tasks.start({ tool: "run_command", input: { command } })
  await eventually("it runs", async () => (await runtime.tasks.output(id)).text.includes("begun"))
  const isInterrupted = async () => (await runtime.tasks.get(id)).task.status === "interrupted"
  // A command runs in the folder in which it was asked for.
  const letGo = (): void => writeFileSync(join(folder, "go"), "")
  return { open, runtime, directory, start, worker, id, isInterrupted, letGo }
}

/** The files of a task in the data folder of a program in this folder. */
function filesOf(directory: string, id: TaskId): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((path) => path.includes(id))
}

test("a worker that stood still stops its command after a worker that could not reach the command ended the task", async () => {
  const { open, directory, worker, id, isInterrupted } = await createHost("sleep 1000 & echo begun; sleep 1000")
  worker.kill("SIGSTOP")
  await open({ background })
  await eventually("another one has ended it", isInterrupted)
  expect(processesOf(id)).not.toEqual([])
  expect(filesOf(directory, id)).not.toEqual([])
  worker.kill("SIGCONT")
  await eventually("nothing of it runs", () => processesOf(id).length === 0)
  await eventually("nothing of it is left", () => filesOf(directory, id).length === 0)
})

test("a worker that was killed leaves such a command to the next worker in its folder, which stops it", async () => {
  const { open, directory, start, worker, id, isInterrupted } = await createHost("sleep 1000 & echo begun; sleep 1000")
  worker.kill("SIGKILL")
  await worker.exited
  await open({ background })
  await eventually("another one has ended it", isInterrupted)
  expect(processesOf(id)).not.toEqual([])
  start()
  await eventually("nothing of it runs", () => processesOf(id).length === 0)
  await eventually("nothing of it is left", () => filesOf(directory, id).length === 0)
})

test("a worker that stood still leaves a command alone that another one in its folder has adopted", async () => {
  const command = "echo begun; until test -e go; do sleep 0.05; done; echo done"
  const { runtime, start, worker, id, letGo } = await createHost(command)
  worker.kill("SIGSTOP")
  const other = start()
  await eventually("it is adopted", async () => (await runtime.tasks.get(id)).task.fence === 2)
  const pids = processesOf(id)
  worker.kill("SIGCONT")
  await worker.shows(/others have taken over/)
  // Long enough for a look at the store: by then it has claimed something else.
  const { id: after } = await runtime.tasks.start({ tool: "run_command", input: { command: "echo after" } })
  await runtime.tasks.result(after, { waitMs: 30_000 })
  expect(processesOf(id)).toEqual(expect.arrayContaining(pids.slice(0, 1)))
  letGo()
  const { task } = await runtime.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "completed", fence: 2 })
  expect((await runtime.tasks.output(id)).text).toBe("begun\ndone\n")
  other.kill("SIGTERM")
  expect(await other.exited).toBe(0)
})

test("a process that a command has left on purpose lives on when its worker was killed after the end", async () => {
  const command = "setsid sleep 1000 >/dev/null 2>&1 & echo begun; until test -e go; do sleep 0.05; done"
  const { runtime, start, worker, id, letGo } = await createHost(command)
  letGo()
  expect((await runtime.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  worker.kill("SIGKILL")
  await worker.exited
  const left = processesOf(id)
  expect(left).not.toEqual([])
  const next = start()
  const { id: after } = await runtime.tasks.start({ tool: "run_command", input: { command: "echo after" } })
  await runtime.tasks.result(after, { waitMs: 30_000 })
  expect(processesOf(id)).toEqual(left)
  for (const pid of left) process.kill(pid, "SIGKILL")
  next.kill("SIGTERM")
  await next.exited
})
