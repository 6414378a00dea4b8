import { describe, expect, test } from "vitest"
import { isAlive, processesOf, processesWith } from "../support/processes.ts"
import { createTestSpool, readAll, toShell } from "../support/spool.ts"
import { eventually } from "../support/eventually.ts"
import { createOwnStopwatch } from "../support/own-stopwatch.ts"

describe("A3. Cancel ends the whole process tree", () => {
  async function cancelled(command: string, graceMs = 5_000) {
    const { run, taskId } = createTestSpool()
    const abort = new AbortController()
    const ended = run.runProcess(toShell(command), { signal: abort.signal, graceMs })
    await eventually("it says that it is ready", async () => (await readAll(run)).includes("ready"))
    const startedAt = performance.now()
    const stopwatch = createOwnStopwatch()
    abort.abort()
    const exit = await ended
    return { exit, taskId, tookMs: performance.now() - startedAt, ownMs: stopwatch.elapsedMs() }
  }

  test("a child that obeys SIGTERM is gone within milliseconds, and how it ended is known", async () => {
    const { exit, taskId, ownMs } = await cancelled("echo ready; exec sleep 60")
    expect(exit).toEqual({ exitCode: null, signal: 15, survivors: [] })
    expect(processesOf(taskId)).toEqual([])
    expect(ownMs).toBeLessThan(2_000)
  })

  test("a child that ignores SIGTERM is killed after the grace", async () => {
    const { exit, taskId, tookMs } = await cancelled("trap '' TERM; echo ready; while :; do sleep 1; done", 100)
    expect(exit).toEqual({ exitCode: null, signal: 9, survivors: [] })
    expect(processesOf(taskId)).toEqual([])
    expect(tookMs).toBeGreaterThanOrEqual(100)
  })

  test("a grandchild that ignores SIGTERM is killed", async () => {
    const { exit, taskId } = await cancelled(`sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done' & wait`, 100)
    expect(exit.survivors).toEqual([])
    expect(processesOf(taskId)).toEqual([])
  })

  test("a shell loop that keeps spawning is ended", async () => {
    const loop = "trap '' TERM; echo ready; while :; do sleep 60 & sleep 0.005; done"
    const { exit, taskId } = await cancelled(loop, 50)
    expect(exit.survivors).toEqual([])
    expect(processesOf(taskId)).toEqual([])
  })

  test("a child that called setsid is ended", async () => {
    const { exit, taskId } = await cancelled(
      "setsid sh -c 'trap \"\" TERM; echo ready; sleep 60; sleep 60' & wait",
      100,
    )
    expect(exit.survivors).toEqual([])
    expect(processesOf(taskId)).toEqual([])
  })

  test("a child that called setsid with an empty environment is ended while its parent lives", async () => {
    const command = `env -i PATH="$PATH" setsid sh -c 'echo "pid $$"; echo ready; sleep 60' & wait`
    const { run } = createTestSpool()
    const abort = new AbortController()
    const ended = run.runProcess(toShell(command), { signal: abort.signal, graceMs: 100 })
    const pid = await eventually("it prints its pid", async () => /pid (\d+)\n/.exec(await readAll(run))?.[1])
    abort.abort()
    expect((await ended).survivors).toEqual([])
    expect(isAlive(Number(pid))).toBe(false)
  })

  test("a suspended process gets the signal", async () => {
    const { run } = createTestSpool()
    const abort = new AbortController()
    const ended = run.runProcess(toShell("trap 'echo bye; exit 0' TERM; echo ready; kill -STOP $$; sleep 60"), {
      signal: abort.signal,
      graceMs: 5_000,
    })
    await eventually("it says that it is ready", async () => (await readAll(run)).includes("ready"))
    abort.abort()
    expect(await ended).toEqual({ exitCode: 0, signal: null, survivors: [] })
    expect(await readAll(run)).toBe("ready\nbye\n")
  })

  test("stopping everything a run has ends it as well", async () => {
    const { run, taskId } = createTestSpool()
    const ended = run.runProcess(toShell("echo ready; sleep 60"), {
      signal: new AbortController().signal,
      graceMs: 100,
    })
    await eventually("it says that it is ready", async () => (await readAll(run)).includes("ready"))
    expect(run.pids()).toHaveLength(1)
    expect(await run.stopAll(100)).toEqual([])
    expect((await ended).signal).toBe(15)
    expect(run.pids()).toEqual([])
    expect(processesOf(taskId)).toEqual([])
  })

  test("a run that was cancelled before starts nothing", async () => {
    const { run, directory } = createTestSpool()
    const control = { signal: AbortSignal.abort(), graceMs: 100 }
    expect(await run.runProcess(toShell("echo no"), control)).toEqual({ exitCode: null, signal: null, survivors: [] })
    expect((await import("node:fs")).readdirSync(directory)).toEqual([])
  })
})

test("the tenth process of a run is no part of its first", async () => {
  const { run, taskId } = createTestSpool()
  const first = new AbortController()
  const rest = new AbortController()
  const toControl = ({ signal }: AbortController) => ({ signal, graceMs: 100 })
  const sleeping = toShell("echo ready; sleep 60")
  const firstEnded = run.runProcess(sleeping, toControl(first))
  const restEnded = Array.from({ length: 9 }, () => run.runProcess(sleeping, toControl(rest)))
  await eventually("all are ready", async () => (await readAll(run)).match(/ready/g)?.length === 10)
  first.abort()
  expect((await firstEnded).survivors).toEqual([])
  expect(processesWith(`MEANWHILE_TASK=${taskId}/1/10`).length).toBeGreaterThan(0)
  rest.abort()
  await Promise.all(restEnded)
  expect(processesOf(taskId)).toEqual([])
})
