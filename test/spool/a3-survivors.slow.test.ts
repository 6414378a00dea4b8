import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { endNow, isAlive, processesOf } from "../support/processes.ts"
import { createTestSpool, NEVER_STOPPED, toShell } from "../support/spool.ts"
import { builtProgram } from "../support/built-program.ts"

const fixture = builtProgram("stop-beside-init")
/** A pid namespace of the test's own needs no rights where the machine lets a user have namespaces. */
const canHaveInit = spawnSync("unshare", ["-rpf", "--mount-proc", "true"]).status === 0

describe("A3. What could not be ended is listed as a survivor", () => {
  test.skipIf(!canHaveInit)("here it is the first process of a system, which no signal from inside can end", () => {
    const { directory, taskId } = createTestSpool()
    const script = `MEANWHILE_TASK= "$@"; :`
    const command = ["sh", "-c", script, "init", process.execPath, fixture, directory, taskId]
    const child = spawnSync("unshare", ["-rpf", "--mount-proc", ...command], {
      encoding: "utf8",
      env: { ...process.env, NODE_NO_WARNINGS: "1", MEANWHILE_TASK: `${taskId}/1/1` },
    })
    expect(child.stderr).toBe("")
    expect(JSON.parse(child.stdout)).toEqual({
      exitCode: null,
      signal: null,
      survivors: [{ pid: 1, command: command.join(" ") }],
    })
  })
})

describe("a process that a command left on purpose", () => {
  const DAEMON = `setsid sh -c 'i=0; while :; do echo "$i daemon"; i=$((i+1)); done' & sleep 0.05`

  test("still meets the cap while the run's output is kept", async () => {
    const dropped: number[] = []
    const { run, taskId, spool } = createTestSpool({
      outputLimitBytes: 100_000,
      onDropped: (before) => dropped.push(before),
    })
    const exit = await run.runProcess(toShell(DAEMON), NEVER_STOPPED)
    expect(exit.survivors).toHaveLength(1)
    await run.close()
    const before = dropped.length
    await eventually("it is cut after the run has ended", () => dropped.length >= before + 2)
    for (const pid of processesOf(taskId)) endNow(pid)
    await spool.close()
  })

  test("keeps the folder of a call in the foreground until it ends, and no longer", async () => {
    const { run, directory } = createTestSpool({ outputLimitBytes: 100_000 })
    const { survivors } = await run.runProcess(toShell(DAEMON), NEVER_STOPPED)
    const [daemon] = survivors
    await run.discard()
    expect(readdirSync(directory)).toHaveLength(1)
    expect(isAlive(daemon?.pid ?? 0)).toBe(true)
    endNow(daemon?.pid ?? 0)
    await eventually("the folder is gone", () => readdirSync(directory).length === 0)
  })
})
