import { spawn } from "node:child_process"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { readProcess } from "../../src/runner/process/table.ts"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { createHoldingTools, effectsIn } from "../support/holding-tools.ts"
import { endNow, isAlive, processesOf } from "../support/processes.ts"
import { createFolder, openIn } from "../support/workplace.ts"

/** Prints ten numbered lines, the second one only once the file `go` exists, and exits with 7. */
const COUNTING = "for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; while [ ! -e go ]; do sleep 0.02; done; done; exit 7"
const ALL_LINES = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("")

const shell = (command: string, more = {}) => ({ tool: "run_command", input: { command }, ...more })

describe("A8. After kill -9 of the runtime: detached processes are adopted again with their full output and exit code; a reused pid is not mistaken for the old process; everything else ends up reclaimed or `interrupted`, nothing stays `running` for ever, nothing keeps a slot", () => {
  for (const lifetime of ["runtime", "forever"] as const) {
    test(`detached processes are adopted again with their full output and exit code (lifetime ${lifetime})`, async () => {
      const directory = createFolder()
      const worker = await startChildWorker(directory)
      const [id = ""] = await worker.start([shell(COUNTING, { lifetime })])
      await eventually("it runs", () => processesOf(id).length > 0)
      await worker.kill()
      expect(processesOf(id).length).toBeGreaterThan(0)
      const { tasks, engine } = await openIn(directory)
      writeFileSync(join(directory, "go"), "")
      const { task } = await tasks.result(id, { waitMs: 20_000 })
      expect(task).toMatchObject({
        status: "failed",
        run: 1,
        failure: { code: "exit_nonzero" },
        patch: { payload: { exitCode: 7, output: ALL_LINES } },
      })
      expect((await tasks.output(id)).text).toBe(ALL_LINES)
      const types = (await engine.store.events(task.id, 0, 100)).map(({ body }) => body.type)
      expect(types).toContain("task.adopted")
      expect(processesOf(id)).toEqual([])
    })
  }

  test("a process that ended while nobody looked has its full output and exit code", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory)
    const [id = ""] = await worker.start([shell(COUNTING)])
    await eventually("it runs", () => processesOf(id).length > 0)
    await worker.kill()
    writeFileSync(join(directory, "go"), "")
    await eventually("it has ended", () => processesOf(id).length === 0)
    const { tasks } = await openIn(directory)
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "failed", patch: { payload: { exitCode: 7, output: ALL_LINES } } })
  })

  test("an adopted process can be cancelled, with all it started", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory)
    const [id = ""] = await worker.start([shell("sleep 300 & sleep 300")])
    await eventually("both sleep", () => processesOf(id).length >= 3)
    await worker.kill()
    const { tasks } = await openIn(directory, { background: { stopGraceSeconds: 0.5 } })
    await tasks.cancel(id)
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "cancelled", survivors: [] })
    expect(processesOf(id)).toEqual([])
  })

  test("an adopted process meets the deadline that it was given, counted from its start", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory)
    const [id = ""] = await worker.start([shell("sleep 300", { timeoutMs: 1_500 })])
    await eventually("it runs", () => processesOf(id).length > 0)
    await worker.kill()
    const { tasks } = await openIn(directory)
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "timed_out", stop: { by: "deadline" }, survivors: [] })
    expect(processesOf(id)).toEqual([])
  })

  test("a reused pid is not mistaken for the old process", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory)
    const [id = ""] = await worker.start([shell("sleep 300")])
    await eventually("it runs", () => processesOf(id).length > 0)
    const leader = readProcess(processesOf(id)[0] ?? 0)?.groupId ?? 0
    await eventually("its start is noted", () => spoolTexts(directory, id).some((text) => /start/.test(text)))
    await worker.kill()
    for (const pid of processesOf(id)) endNow(pid)
    await eventually("the old process is gone", () => processesOf(id).length === 0)
    const bystander = startBystander(directory)
    forgePid(directory, id, leader, bystander)
    const { tasks } = await openIn(directory)
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "interrupted", by: "lost_worker" })
    expect(isAlive(bystander)).toBe(true)
  })

  test("everything else ends up reclaimed or `interrupted`, nothing stays `running` for ever, nothing keeps a slot", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory, { maxConcurrentTasks: 3 })
    const [failing = "", retried = "", asking = "", queued = ""] = await worker.start([
      { tool: "hold", input: { name: "failing", until: "never" } },
      { tool: "hold_retry", input: { name: "retried", until: "go" } },
      { tool: "hold_ask", input: { name: "asking", until: "go" } },
      { tool: "hold", input: { name: "queued" } },
    ])
    await eventually("three have begun", () => effectsIn(directory).length === 3)
    await worker.kill()
    writeFileSync(join(directory, "go"), "")
    const { tasks, engine } = await openIn(directory, {
      background: { maxConcurrentTasks: 1 },
      tools: createHoldingTools(directory),
    })
    expect((await tasks.result(failing, { waitMs: 20_000 })).task).toMatchObject({
      status: "interrupted",
      by: "lost_worker",
      failure: { code: "worker_lost" },
    })
    expect((await tasks.result(retried, { waitMs: 20_000 })).task).toMatchObject({ status: "completed", run: 1 })
    expect((await tasks.result(queued, { waitMs: 20_000 })).task).toMatchObject({ status: "completed", run: 1 })
    const { task } = await tasks.get(asking)
    expect(task).toMatchObject({ status: "waiting", wait: { reason: "person" } })
    if (task.status === "waiting") await tasks.answer(task.wait.id, true, "a person")
    expect((await tasks.result(asking, { waitMs: 20_000 })).task).toMatchObject({ status: "completed" })
    expect(await engine.store.countTasks({ statuses: ["queued", "running", "waiting", "stopping"] })).toBe(0)
    expect(effectsIn(directory).filter(({ what }) => what === "acted retried")).toHaveLength(1)
  })

  test("what ran in the foreground is ended at the next start, and its folder is gone", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory)
    const id = await worker.execute(shell("sleep 300"))
    await eventually("it runs", () => processesOf(id).length > 0)
    await worker.kill()
    const { tasks } = await openIn(directory)
    await eventually("it is ended", () => processesOf(id).length === 0)
    expect((await tasks.list({})).items).toEqual([])
    await expect(tasks.get(id)).rejects.toMatchObject({ code: "not_found" })
  })
})

/** Somebody else's process. */
function startBystander(directory: string): number {
  const child = spawn("sleep", ["300"], { env: { ...process.env, MEANWHILE_TEST: directory }, detached: true })
  if (child.pid === undefined) throw new Error("sleep could not be started.")
  return child.pid
}

/** Makes the run's files name another pid, as if the machine had given the old one to another process. */
function forgePid(directory: string, id: string, oldPid: number, newPid: number): void {
  const forged = spoolFiles(directory, id).filter((path) => {
    const text = readFileSync(path, "latin1")
    writeFileSync(path, text.replaceAll(new RegExp(`\\b${oldPid}\\b`, "g"), String(newPid)), "latin1")
    return text.includes(String(oldPid))
  })
  if (forged.length === 0) throw new Error(`No file names the process ${oldPid}.`)
}

function spoolFiles(directory: string, id: string): string[] {
  const root = join(directory, "data", "spool", id)
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => join(root, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
}

const spoolTexts = (directory: string, id: string): string[] =>
  spoolFiles(directory, id).map((path) => readFileSync(path, "latin1"))
