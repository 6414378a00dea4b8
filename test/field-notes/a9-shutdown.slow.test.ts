import { spawn } from "node:child_process"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { createOwnStopwatch } from "../support/own-stopwatch.ts"
import { processesOf, processesWith } from "../support/processes.ts"
import { startPiped } from "../support/program.ts"
import { storeVariables } from "../support/test-engine.ts"
import { createFolder, openIn, toTestMarker } from "../support/workplace.ts"

/** How long Ctrl+C lets tasks go on, in the program. */
const DRAIN_MS = 3_000

/** The real program, as a person starts it in a folder, with input that does not end. */
async function startProgram(directory: string) {
  const dataDirectory = join(directory, "data")
  return startPiped({
    directory,
    arguments: ["--data-dir", dataDirectory],
    environment: {
      ...(await storeVariables(dataDirectory)),
      MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "0.1",
      MEANWHILE_BACKGROUND_STOP_GRACE_SECONDS: "0.3",
    },
  })
}

describe("A9. Shutdown drains, then stops, then exits; a second Ctrl+C is faster; no orphan is left", () => {
  test("Ctrl+C lets what is about to end do so, stops the rest, and exits", async () => {
    const directory = createFolder()
    const program = await startProgram(directory)
    program.type("/run while [ ! -e go ]; do sleep 0.02; done; echo the whole result")
    await program.shows(/goes on in the background/)
    program.type("/run trap '' TERM; setsid sleep 300 & while :; do sleep 300; done")
    await program.shows(/goes on in the background/)
    const since = performance.now()
    program.kill("SIGINT")
    await program.shows(/Cancelling 2 running tasks in 3 seconds/)
    spawn("touch", [join(directory, "go")])
    expect(await program.exited).toBe(0)
    expect(performance.now() - since).toBeGreaterThan(DRAIN_MS * 0.9)
    expect(processesWith(toTestMarker(directory))).toEqual([])
    const { items } = await (await openIn(directory)).tasks.list({})
    expect(items.map((task) => [task.status, "stop" in task ? task.stop.by : null])).toEqual([
      ["cancelled", "shutdown"],
      ["completed", null],
    ])
  })

  test("a second Ctrl+C does not wait for the drain", async () => {
    const directory = createFolder()
    const program = await startProgram(directory)
    program.type("/run sleep 300 & setsid sleep 300 & wait")
    await program.shows(/goes on in the background/)
    const stopwatch = createOwnStopwatch()
    program.kill("SIGINT")
    await program.shows(/Ctrl\+C again cancels at once/)
    program.kill("SIGINT")
    expect(await program.exited).toBe(0)
    expect(stopwatch.elapsedMs()).toBeLessThan(DRAIN_MS * 0.9)
    expect(processesWith(toTestMarker(directory))).toEqual([])
  })

  test("`/quit` stops at once, and so does the end of input once everything has ended", async () => {
    const directory = createFolder()
    const quitting = await startProgram(directory)
    quitting.type("/run sleep 300")
    await quitting.shows(/goes on in the background/)
    quitting.type("/quit")
    expect(await quitting.exited).toBe(0)
    expect(processesWith(toTestMarker(directory))).toEqual([])

    const ending = await startProgram(directory)
    ending.type("/run while [ ! -e go ]; do sleep 0.02; done; echo the last words")
    await ending.shows(/goes on in the background/)
    ending.endInput()
    spawn("touch", [join(directory, "go")])
    expect(await ending.exited).toBe(0)
    await ending.shows(/completed in/)
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
