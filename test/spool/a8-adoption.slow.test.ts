import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { readBootId, thisProcessIdentity } from "../../src/runner/process/identity.ts"
import { readProcess } from "../../src/runner/process/table.ts"
import { eventually } from "../support/eventually.ts"
import { isAlive, processesOf } from "../support/processes.ts"
import { createTestSpool, NEVER_STOPPED, readAll, type TestSpool, toShell } from "../support/spool.ts"
import { builtProgram } from "../support/built-program.ts"

const fixture = builtProgram("spool-owner")

/** Starts another Meanwhile process that runs the command, and kills it once the command says that it is ready. */
async function crashed(command: string, outputLimitBytes = 1_000_000): Promise<TestSpool & { owner: ChildProcess }> {
  const place = createTestSpool({ outputLimitBytes })
  const parameters = [place.directory, place.taskId, command, String(outputLimitBytes)]
  const owner = spawn(process.execPath, [fixture, ...parameters], { stdio: ["ignore", "ignore", "inherit"] })
  onTestFinished(() => void owner.kill("SIGKILL"))
  await eventually("the command is ready", async () => (await readAll(place.run)).includes("ready"))
  const killed = new Promise((resolve) => owner.once("exit", resolve))
  owner.kill("SIGKILL")
  await killed
  return { ...place, owner }
}

const listGuards = (): string[] =>
  execFileSync("ps", ["-axww", "-o", "args="], { encoding: "utf8", maxBuffer: 2 ** 26 })
    .split("meanwhile-guard ")
    .slice(1)

const processFile = ({ directory, taskId }: TestSpool): string => join(directory, taskId, "1", "process-1")

describe("A8. After kill -9 of the runtime: detached processes are adopted again with their full output and exit code; a reused pid is not mistaken for the old process", () => {
  test("one that lives on is watched to its end", async () => {
    const place = await crashed("echo ready; until [ -e go ]; do sleep 0.01; done; echo done >&2; exit 3")
    expect(await place.run.reattach()).toBe("reattachable")
    expect(place.run.pids()).toHaveLength(1)
    const ended = place.run.runProcess(toShell("echo never"), NEVER_STOPPED)
    writeFileSync(join(place.directory, "go"), "")
    expect(await ended).toEqual({ exitCode: 3, signal: null, survivors: [] })
    expect(await readAll(place.run)).toBe("from the tool\nready\ndone\n")
    expect(place.run.pids()).toEqual([])
  })

  test("one that ended meanwhile has its exit code, and the next one is started as usual", async () => {
    const place = await crashed("echo ready; sleep 0.1; echo done; exit 4")
    await eventually("it has ended", () => processesOf(place.taskId).length === 0)
    expect(await place.run.reattach()).toBe("reattachable")
    expect(await place.run.runProcess(toShell("echo never"), NEVER_STOPPED)).toMatchObject({ exitCode: 4 })
    expect(await place.run.runProcess(toShell("echo second; exit 5"), NEVER_STOPPED)).toMatchObject({ exitCode: 5 })
    expect(await readAll(place.run)).toBe("from the tool\nready\ndone\nsecond\n")
  })

  test("one that lives on can be stopped, and its descendants with it", async () => {
    const place = await crashed("setsid sleep 60 & sh -c 'trap \"\" TERM; sleep 60; :' & echo ready; wait")
    expect(await place.run.reattach()).toBe("reattachable")
    const abort = new AbortController()
    const ended = place.run.runProcess(toShell("echo never"), { signal: abort.signal, graceMs: 100 })
    abort.abort()
    expect((await ended).survivors).toEqual([])
    expect(processesOf(place.taskId)).toEqual([])
  })

  test("one that lives on still meets the cap", async () => {
    const place = await crashed("echo ready; until [ -e go ]; do sleep 0.01; done; yes | head -c 3000000; sleep 60")
    const dropped: number[] = []
    const { run } = place.reopen({ onDropped: (before) => dropped.push(before) })
    expect(await run.reattach()).toBe("reattachable")
    writeFileSync(join(place.directory, "go"), "")
    await eventually("it was cut", () => dropped.length > 0)
    expect(await run.stopAll(100)).toEqual([])
  })

  test("one whose wrapper was killed is lost, and what is left of it can be stopped", async () => {
    const place = await crashed("echo ready; sleep 60")
    const [pid] = /claim (\d+)/.exec(readFileSync(processFile(place), "utf8"))?.slice(1) ?? []
    process.kill(Number(pid), "SIGKILL")
    await eventually("the wrapper is gone", () => !isAlive(Number(pid)))
    expect(await place.run.reattach()).toBe("lost")
    expect(processesOf(place.taskId).length).toBeGreaterThan(0)
    expect(await place.run.stopAll(100)).toEqual([])
    expect(processesOf(place.taskId)).toEqual([])
  })

  test("a reused pid is not mistaken for the old process, and is left alone", async () => {
    const { run, reopen, directory, taskId } = createTestSpool()
    run.keep()
    run.write("x")
    await run.flush()
    const stranger = spawn("sleep", ["60"], { stdio: "ignore", detached: true })
    onTestFinished(() => void stranger.kill("SIGKILL"))
    const pid = stranger.pid ?? 0
    const startedAt = Number(readProcess(pid)?.startedAt) - 1
    const path = join(directory, taskId, "1", "process-1")
    writeFileSync(path, `claim ${pid} 1000 ${readBootId()} 1 | 1 | x\nstart ${startedAt}\n`)
    expect(await reopen().run.reattach()).toBe("lost")
    expect(await reopen().run.stopAll(50)).toEqual([])
    expect(isAlive(pid)).toBe(true)
    // Without a note of its start, the process must carry the marker.
    writeFileSync(path, `claim ${pid} 1000 ${readBootId()} 1 | 1 | x\n`)
    expect(await reopen().run.reattach()).toBe("lost")
    expect(await reopen().run.stopAll(50)).toEqual([])
    expect(isAlive(pid)).toBe(true)
    // The claim must also be of this start of the machine.
    writeFileSync(path, `claim ${pid} 1000 another-boot 1 | 1 | x\nstart ${startedAt + 1}\n`)
    expect(await reopen().run.reattach()).toBe("lost")
    expect(isAlive(pid)).toBe(true)
  })
})

describe("while Meanwhile is down", () => {
  test("a command that prints more than four times its limit is stopped, and the next start says why", async () => {
    const place = await crashed(
      "echo ready; until [ -e go ]; do sleep 0.01; done; trap '' TERM; while :; do echo endless; done",
      50_000,
    )
    writeFileSync(join(place.directory, "go"), "")
    await eventually("it is gone", () => processesOf(place.taskId).length === 0)
    const { run } = place.reopen()
    expect(await run.reattach()).toBe("reattachable")
    await expect(run.runProcess(toShell("echo never"), NEVER_STOPPED)).rejects.toMatchObject({ code: "limit_exceeded" })
  })

  test("a command that prints less goes on, and the guard ends with it", async () => {
    const place = await crashed("echo ready; until [ -e go ]; do sleep 0.01; done; echo done")
    const guards = (): string[] =>
      listGuards().filter((command) => command.includes(place.directory) && command.includes(`${place.owner.pid} |`))
    // A process that the guard starts has the guard's name for a moment.
    await eventually("one guard is there", () => guards().length === 1)
    writeFileSync(join(place.directory, "go"), "")
    await eventually("it has ended", () => readFileSync(processFile(place), "utf8").includes("exit 0"))
    await eventually("the guard has ended", () => guards().length === 0)
  })
})

describe("folders that a dead Meanwhile process left", () => {
  test("are found, and those of a living one are not", async () => {
    const place = await crashed("echo ready; sleep 60")
    expect(place.spool.isOrphan(place.taskId)).toBe(true)
    expect(place.spool.runs(place.taskId)).toEqual([1])
    const mine = createTestSpool()
    const abort = new AbortController()
    const ended = mine.run.runProcess(toShell("echo ready; sleep 60"), { signal: abort.signal, graceMs: 100 })
    await eventually("it is ready", async () => (await readAll(mine.run)).includes("ready"))
    const dead = { ...thisProcessIdentity(), startedAt: "1" }
    expect(mine.reopen({ owner: dead }).spool.isOrphan(mine.taskId)).toBe(false)
    abort.abort()
    await ended
    expect(await place.run.stopAll(100)).toEqual([])
    await place.spool.remove(place.taskId)
    expect(place.spool.folders()).toEqual([])
    expect(processesOf(place.taskId)).toEqual([])
  })
})
