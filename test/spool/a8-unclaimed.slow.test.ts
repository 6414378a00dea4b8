import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { createTestSpool, NEVER_STOPPED, readAll, toShell } from "../support/spool.ts"

describe("A8. A command whose wrapper had not claimed the right to run it when Meanwhile died", () => {
  test("one that had not claimed its right to run never runs", async () => {
    const { run, reopen, taskId, directory } = createTestSpool()
    run.keep()
    run.write("the run has a folder\n")
    await run.flush()
    expect(await reopen().run.reattach()).toBe("never_ran")
    // The wrapper from before comes late and finds its place taken.
    await expect(run.runProcess(toShell("echo too late"), NEVER_STOPPED)).rejects.toMatchObject({ code: "stale_claim" })
    expect(await readAll(run)).toBe("the run has a folder\n")
    const next = reopen().run
    expect(await next.reattach()).toBe("never_ran")
    expect(await next.runProcess(toShell("echo in time"), NEVER_STOPPED)).toMatchObject({ exitCode: 0 })
    expect(await readAll(next)).toBe("the run has a folder\nin time\n")
    expect(readFileSync(join(directory, taskId, "1", "process-1-launch-3"), "utf8")).toContain("exit 0")
  })

  test("one that was about to start when its worker was suspended, without a folder yet, never runs", async () => {
    const { run, reopen } = createTestSpool()
    const next = reopen().run
    expect(await next.reattach()).toBe("never_ran")
    const late = ["first", "second"].map((place) => run.runProcess(toShell(`echo ${place}`), NEVER_STOPPED))
    for (const ended of late) await expect(ended).rejects.toMatchObject({ code: "stale_claim" })
    expect(await next.runProcess(toShell("echo in time"), NEVER_STOPPED)).toMatchObject({ exitCode: 0 })
    await expect(run.runProcess(toShell("echo third"), NEVER_STOPPED)).rejects.toMatchObject({ code: "stale_claim" })
    expect(await readAll(next)).toBe("in time\n")
  })

  test("of those that were started at once, none that had not claimed its right to run ever runs", async () => {
    const { run, reopen, taskId, directory } = createTestSpool()
    run.keep()
    run.write("the run has a folder\n")
    await run.flush()
    const toPath = (name: string): string => join(directory, taskId, "1", name)
    writeFileSync(toPath("process-3"), `claim 1 1000 another-boot 1 | 1 | x\nexit 0\n`)
    // Stands for a wrapper that was spawned and has not come to its claim.
    const late = spawn("sleep", ["60"], { stdio: "ignore", env: { MEANWHILE_TASK: `${taskId}/1/6` } })
    onTestFinished(() => void late.kill("SIGKILL"))
    expect(await reopen().run.reattach()).toBe("reattachable")
    for (const place of ["first", "second"]) {
      const ended = run.runProcess(toShell(`echo ${place}`), NEVER_STOPPED)
      await expect(ended).rejects.toMatchObject({ code: "stale_claim" })
    }
    for (const number of [6, 7]) expect(readFileSync(toPath(`process-${number}`), "utf8")).toBe("forbidden\n")
    expect(await readAll(run)).toBe("the run has a folder\n")
  })

  test("one that was launched again and had not claimed its right to run never runs", async () => {
    const { run, reopen, taskId, directory } = createTestSpool()
    run.keep()
    run.write("the run has a folder\n")
    await run.flush()
    const second = reopen().run
    expect(await second.reattach()).toBe("never_ran")
    expect(await reopen().run.reattach()).toBe("never_ran")
    await expect(second.runProcess(toShell("echo late"), NEVER_STOPPED)).rejects.toMatchObject({ code: "stale_claim" })
    expect(readFileSync(join(directory, taskId, "1", "process-1-launch-2"), "utf8")).toBe("forbidden\n")
  })

  test("one whose line was never finished did not run", async () => {
    const { run, reopen, ...place } = createTestSpool()
    run.keep()
    run.write("x")
    await run.flush()
    writeFileSync(join(place.directory, place.taskId, "1", "process-1"), "claim 12")
    expect(await reopen().run.reattach()).toBe("never_ran")
  })
})
