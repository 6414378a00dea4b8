import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { createOwnStopwatch } from "../support/own-stopwatch.ts"
import { processesOf, processesWith } from "../support/processes.ts"
import { startPiped } from "../support/program.ts"
import { storeVariables } from "../support/test-engine.ts"
import { createFolder, openIn, toTestMarker } from "../support/workplace.ts"

const DRAIN_SECONDS = 3

/** A worker that drains, beside a chat that runs nothing itself. */
async function startPrograms(directory: string) {
  const dataDirectory = join(directory, "data")
  const environment = { ...(await storeVariables(dataDirectory)), MEANWHILE_BACKGROUND_STOP_GRACE_SECONDS: "0.3" }
  const start = (...words: readonly string[]) =>
    startPiped({ directory, arguments: ["--data-dir", dataDirectory, ...words], environment })
  const worker = start("worker", "--drain", String(DRAIN_SECONDS))
  await worker.shows(/takes tasks from/)
  const chat = start("--concurrency", "0")
  return { worker, chat, startWorker: () => start("worker") }
}

const runs = (directory: string, name: string) =>
  eventually("the command runs", () => existsSync(join(directory, name)))

describe("A9. Shutdown of a worker or a server drains, then stops, then exits; a second Ctrl+C is faster; no orphan is left", () => {
  test("SIGTERM lets what is about to end do so, stops the rest, and exits", async () => {
    const directory = createFolder()
    const { worker, chat } = await startPrograms(directory)
    chat.type("/start touch one; while [ ! -e go ]; do sleep 0.02; done; echo the whole result")
    chat.type("/start touch two; trap '' TERM; setsid sleep 300 & while :; do sleep 300; done")
    await Promise.all([runs(directory, "one"), runs(directory, "two")])
    const since = performance.now()
    worker.kill("SIGTERM")
    await worker.shows(/takes nothing new, hands agents back, and lets other tasks come to their end/)
    spawn("touch", [join(directory, "go")])
    expect(await worker.exited).toBe(0)
    expect(performance.now() - since).toBeGreaterThan(DRAIN_SECONDS * 1_000 * 0.9)
    chat.kill("SIGTERM")
    await chat.exited
    expect(processesWith(toTestMarker(directory))).toEqual([])
    const { items } = await (await openIn(directory)).tasks.list({})
    expect(items.map((task) => [task.status, "stop" in task ? task.stop.by : null])).toEqual([
      ["cancelled", "shutdown"],
      ["completed", null],
    ])
  })

  test("a second Ctrl+C does not wait for the drain, and the next worker has what was left", async () => {
    const directory = createFolder()
    const { worker, chat, startWorker } = await startPrograms(directory)
    chat.type("/start touch one; while [ ! -e go ]; do sleep 0.02; done; echo the whole result")
    await runs(directory, "one")
    const stopwatch = createOwnStopwatch()
    worker.kill("SIGINT")
    await worker.shows(/Another Ctrl\+C or SIGTERM ends it at once/)
    worker.kill("SIGINT")
    expect(await worker.exited).toBe(3)
    expect(stopwatch.elapsedMs()).toBeLessThan(DRAIN_SECONDS * 1_000 * 0.9)
    const next = startWorker()
    await next.shows(/takes tasks from/)
    spawn("touch", [join(directory, "go")])
    await chat.shows(/completed in/)
    for (const program of [next, chat]) {
      program.kill("SIGTERM")
      expect(await program.exited).toBe(0)
    }
    expect(processesWith(toTestMarker(directory))).toEqual([])
  })

  test("a task that lives forever outlives a clean shutdown and is taken up again", async () => {
    const directory = createFolder()
    const first = await startChildWorker(directory)
    const command = "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo ended; exit 4"
    const [id = ""] = await first.start([{ tool: "run_command", input: { command }, lifetime: "forever" }])
    await eventually("it runs", () => processesOf(id).length > 0)
    await first.close()
    expect(processesOf(id).length).toBeGreaterThan(0)
    const second = await openIn(directory)
    expect((await second.tasks.get(id)).task.status).toBe("running")
    spawn("touch", [join(directory, "go")])
    const { task } = await second.tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({
      status: "failed",
      run: 1,
      patch: { payload: { exitCode: 4, output: "begun\nended\n" } },
    })
    expect(processesOf(id)).toEqual([])
  })

  test("what was queued is still queued for the next start", async () => {
    const directory = createFolder()
    const first = await openIn(directory, { background: { maxConcurrentTasks: 1, stopGraceSeconds: 0.3 } })
    await first.tasks.start({ tool: "run_command", input: { command: "sleep 300" } })
    const queued = await first.tasks.start({ tool: "run_command", input: { command: "echo at last" } })
    await first.close()
    const second = await openIn(directory)
    const { task } = await second.tasks.result(queued.id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "completed", patch: { payload: { output: "at last\n" } } })
  })
})
