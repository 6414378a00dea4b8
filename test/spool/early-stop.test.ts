import { execFileSync, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { Act } from "../../src/plugin/context.ts"
import { stopTree } from "../../src/runner/process/stop-tree.ts"
import { readProcess } from "../../src/runner/process/table.ts"
import { eventually } from "../support/eventually.ts"
import { endProcessesAfterTest, processesOf, processesWith } from "../support/processes.ts"
import { createTestSpool, toShell } from "../support/spool.ts"
import { createFolder } from "../support/workplace.ts"

const GRACE_MS = 60_000
/** Longer than a stop looks for new members where the command has had the signal. */
const LOOKS = 20

describe("a stop reaches a command that is being started", () => {
  test("before its folder is made: nothing is started", async () => {
    const { run, directory, taskId } = createTestSpool()
    const abort = new AbortController()
    abort.abort()
    const exit = await run.runProcess(toShell("sleep 60"), { signal: abort.signal, graceMs: GRACE_MS })
    expect(exit).toEqual({ exitCode: null, signal: null, survivors: [] })
    expect(existsSync(join(directory, taskId))).toBe(false)
  })

  test("between the folder and the spawn: nothing is started", async () => {
    const { run, directory, taskId } = createTestSpool()
    const abort = new AbortController()
    // Something to write: the folder is made at once, and the spawn waits until it is written.
    run.write("printed before\n")
    const ended = run.runProcess(toShell("sleep 60"), { signal: abort.signal, graceMs: GRACE_MS })
    expect(existsSync(join(directory, taskId))).toBe(true)
    abort.abort()
    expect(await ended).toEqual({ exitCode: null, signal: null, survivors: [] })
    expect(processesOf(taskId)).toEqual([])
  })

  test("between the spawn and the file of the process: what was spawned ends", async () => {
    const { spool, run, taskId } = createTestSpool()
    const abort = new AbortController()
    const act: Act = async (effect) => {
      const launched = effect()
      abort.abort()
      return launched
    }
    spool.openRun(taskId, 1, { outputLimitBytes: 1_000, act })
    const beganAtMs = performance.now()
    const exit = await run.runProcess(toShell("sleep 60"), { signal: abort.signal, graceMs: GRACE_MS })
    expect(exit.survivors).toEqual([])
    expect(processesOf(taskId)).toEqual([])
    expect(performance.now() - beganAtMs).toBeLessThan(GRACE_MS)
  })

  const HOLD = ': >"$2"; until read -r line <"$1"; do :; done 2>/dev/null'
  const TRAP = "trap : HUP INT QUIT TERM"

  test.each([
    ["between the trap of its wrapper and the fork", `${TRAP}; ${HOLD}; (exec sleep 60); exit $?`],
    ["between the fork and the exec", `${TRAP}; (${TRAP}; ${HOLD}; exec sleep 60); exit $?`],
  ])("%s: the command gets the signal as soon as it runs, however long that takes", async (_point, script) => {
    const marker = `MEANWHILE_EARLY_STOP=${crypto.randomUUID()}`
    endProcessesAfterTest(marker)
    const [name = "", value = ""] = marker.split("=")
    const folder = createFolder()
    const [go, held] = [join(folder, "go"), join(folder, "held")]
    execFileSync("/bin/sh", ["-c", 'mkfifo "$1"', "sh", go])
    const env = { PATH: process.env["PATH"], [name]: value }
    const { pid = 0 } = spawn("/bin/sh", ["-c", script, "wrapper", go, held], { detached: true, stdio: "ignore", env })
    await eventually("it is held, and traps the signal", () => existsSync(held))
    const clock = createManualClock()
    const tree = { leaderPid: pid, leaderStartedAt: readProcess(pid)?.startedAt, marker }
    const stopped = stopTree(tree, { clock, graceMs: GRACE_MS })
    for (let look = 0; look < LOOKS; look++) {
      clock.advance(50)
      await setImmediate()
    }
    await writeFile(go, "go\n")
    await eventually("nothing of it lives", () => {
      clock.advance(50)
      return processesWith(marker).length === 0
    })
    expect(clock.monotonic()).toBeLessThan(GRACE_MS)
    clock.advance(1_000)
    expect(await stopped).toEqual([])
  })
})
