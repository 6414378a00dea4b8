import { spawn, spawnSync } from "node:child_process"
import { expect, onTestFinished, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { watchForeignProcess } from "../../src/runner/start/foreign-process.ts"
import { readCommand, readProcess } from "../../src/runner/process/table.ts"
import { findMembers } from "../../src/runner/process/tree.ts"
import { eventually } from "../support/eventually.ts"
import { endNow } from "../support/processes.ts"

// Nothing here is ever stopped: a mistake would reach every process of the machine.
const watch = (pid: number) => watchForeignProcess(pid, createManualClock())

const hasPython = process.platform === "linux" && spawnSync("python3", ["-c", "import ctypes"]).status === 0

/** Becomes `sleep` with an empty entry in its environment, as programs have that overwrite it with their title. */
const WITH_EMPTY_ENTRY = `
import ctypes
strings = lambda *each: (ctypes.c_char_p * (len(each) + 1))(*each, None)
ctypes.CDLL(None).execve(b"/bin/sleep", strings(b"sleep", b"60"), strings(b"A=1", b"", b"B=2"))
`

function startProcess(program: string, parameters: readonly string[]): number {
  const pid = spawn(program, parameters, { stdio: "ignore" }).pid ?? 0
  onTestFinished(() => endNow(pid))
  return pid
}

test("a process whose end would end Meanwhile too cannot be adopted", () => {
  const ownGroup = readProcess(process.pid)?.groupId ?? 0
  // The leader of the group may be gone while other members live.
  const leader = readProcess(ownGroup) ? [ownGroup] : []
  for (const pid of [1, process.pid, process.ppid, ...leader])
    expect(() => watch(pid)).toThrow("would end Meanwhile too")
})

test("a number that is no process cannot be adopted", () => {
  for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 40]) expect(() => watch(pid)).toThrow(`There is no process ${pid}`)
})

test.skipIf(!hasPython)("an empty entry in its environment makes no process a member of another's tree", async () => {
  const stranger = startProcess("python3", ["-c", WITH_EMPTY_ENTRY])
  await eventually("it has become sleep", () => readCommand(stranger) === "sleep 60")
  const leaderPid = startProcess("sleep", ["60"])
  const members = findMembers({ leaderPid, leaderStartedAt: readProcess(leaderPid)?.startedAt })
  // The process leads no group of its own here: only an environment could make it, or another process, a member.
  expect(members).toEqual([])
})
