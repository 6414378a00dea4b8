import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { builtProgram } from "../support/built-program.ts"

const fixture = builtProgram("full-disk")
/** A file system of the test's own needs no rights where the machine lets a user have namespaces. */
const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0

describe("B2. A full disk fails that task with a clear error and nothing else", () => {
  test.skipIf(!canMount)("on a file system of 256 KiB, with four tasks on it", () => {
    const directory = mkdtempSync(join(tmpdir(), "meanwhile-full-"))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const script = 'mount -t tmpfs -o size=256k tmpfs "$1" && exec "$2" "$3" "$1"'
    const child = spawnSync("unshare", ["-rm", "sh", "-c", script, "sh", directory, process.execPath, fixture], {
      encoding: "utf8",
      env: { ...process.env, NODE_NO_WARNINGS: "1" },
    })
    expect(child.stderr).toBe("")
    expect(JSON.parse(child.stdout)).toEqual({
      loudEnd: "disk_full",
      toolEnd: "disk_full",
      late: "disk_full",
      memoryEnd: "in memory",
      quietEnd: '{"exitCode":0,"signal":null,"survivors":[]}',
      after: '{"exitCode":0,"signal":null,"survivors":[]}',
    })
  })
})
