import { spawn } from "node:child_process"
import { expect, test } from "vitest"
import { systemClock } from "../../src/base/clock.ts"
import { stopTree } from "../../src/runner/process/stop-tree.ts"
import { readProcess } from "../../src/runner/process/table.ts"
import { eventually } from "../support/eventually.ts"
import { endProcessesAfterTest, processesWith } from "../support/processes.ts"

test("a process counts as a survivor only if it is seen again after SIGKILL, however long a look takes", async () => {
  const marker = `MEANWHILE_SLOW_LOOK=${crypto.randomUUID()}`
  endProcessesAfterTest(marker)
  const [name = "", value = ""] = marker.split("=")
  const { pid = 0 } = spawn("sh", ["-c", "trap '' TERM; sleep 60 & sleep 60 & wait; sleep 60"], {
    detached: true,
    stdio: "ignore",
    env: { PATH: process.env["PATH"], [name]: value },
  })
  await eventually("all of the tree run", () => processesWith(marker).length === 3)
  let now = 0
  // Each look at the time finds the deadline over, as where a look at the processes of a busy machine takes a second.
  const clock = { ...systemClock, monotonic: () => (now += 2_000) }
  const tree = { leaderPid: pid, leaderStartedAt: readProcess(pid)?.startedAt, marker }
  expect(await stopTree(tree, { clock, graceMs: 1 })).toEqual([])
  expect(processesWith(marker)).toEqual([])
})
