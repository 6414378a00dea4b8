import { spawn } from "node:child_process"
import { describe, expect, onTestFinished, test } from "vitest"
import {
  decodeIdentity,
  encodeIdentity,
  isProcessAlive,
  thisProcessIdentity,
  toProcessIdentity,
} from "../../src/runner/process/identity.ts"
import { parsePsRows, readProcess } from "../../src/runner/process/table.ts"
import { eventually } from "../support/eventually.ts"

describe("who a process is", () => {
  const self = thisProcessIdentity()

  test("it is alive as long as pid, start and boot are the same", () => {
    expect(isProcessAlive(self)).toBe(true)
    expect(isProcessAlive({ ...self, startedAt: "1" })).toBe(false)
    expect(isProcessAlive({ ...self, pid: 4_194_303 })).toBe(false)
    expect(isProcessAlive({ ...self, bootId: "another/1" })).toBe(false)
  })

  test("whether a process of another container of the same machine lives is unknown", () => {
    expect(isProcessAlive({ ...self, bootId: `${self.bootId.split("/")[0]}/1` })).toBeUndefined()
  })

  test("a zombie is dead", async () => {
    // The shell never waits for its child, because another program took its place.
    const parent = spawn("sh", ["-c", "sleep 0 & exec sleep 60"], { stdio: "ignore" })
    onTestFinished(() => void parent.kill("SIGKILL"))
    const { listProcesses } = await import("../../src/runner/process/table.ts")
    const zombie = await eventually("there is a zombie", () =>
      listProcesses("X=").find((entry) => entry.parentPid === parent.pid && entry.state === "Z"),
    )
    expect(isProcessAlive({ ...self, pid: zombie.pid, startedAt: zombie.startedAt })).toBe(false)
  })

  test("it survives being stored", () => {
    expect(decodeIdentity(encodeIdentity(self))).toEqual(self)
    expect(toProcessIdentity(JSON.parse(JSON.stringify(self)))).toEqual(self)
    expect(toProcessIdentity({ pid: "1" })).toBeUndefined()
    expect(toProcessIdentity(null)).toBeUndefined()
  })
})

describe("the process table", () => {
  test("reads a name with spaces and parentheses", async () => {
    const child = spawn("sh", ["-c", "printf 'a) (b c' >/proc/self/comm; exec 3</dev/null; sleep 60 & wait"], {
      stdio: "ignore",
    })
    onTestFinished(() => void child.kill("SIGKILL"))
    expect(readProcess(child.pid ?? 0)).toMatchObject({ parentPid: process.pid, groupId: expect.any(Number) })
  })

  test("reads the rows of ps on macOS", () => {
    const rows = parsePsRows(
      [
        "  501     1   501 Ss   Mon Sep  1 09:08:07 2025 /sbin/launchd",
        "  777   501   777 S+   Tue Nov 11 19:28:37 2025 sh -c sleep 60 MEANWHILE_TASK=abc/1/1",
        "garbage",
      ].join("\n"),
    )
    expect(rows).toEqual([
      {
        pid: 501,
        parentPid: 1,
        groupId: 501,
        state: "S",
        startedAt: "Mon Sep 1 09:08:07 2025",
        command: "/sbin/launchd",
      },
      {
        pid: 777,
        parentPid: 501,
        groupId: 777,
        state: "S",
        startedAt: "Tue Nov 11 19:28:37 2025",
        command: "sh -c sleep 60 MEANWHILE_TASK=abc/1/1",
      },
    ])
  })
})
