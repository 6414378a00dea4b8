import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { builtProgram } from "../support/built-program.ts"
import { createFolder } from "../support/workplace.ts"

const COMMITS = 25

/**
 * True where system calls can be watched. The level that SQLite is asked for is tested everywhere, beside the code that
 * opens the store.
 */
const canWatch = spawnSync("strace", ["-e", "trace=fsync", "true"]).status === 0

/** How often a program that commits this many tasks waits for the disk. */
function countWaits(commits: number): number {
  const folder = createFolder()
  const calls = join(folder, "calls")
  const program = [process.execPath, builtProgram("commit-tasks"), join(folder, "store.sqlite"), String(commits)]
  const { status } = spawnSync("strace", ["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", calls, ...program])
  expect(status).toBe(0)
  return readFileSync(calls, "utf8").match(/\b(?:fsync|fdatasync)\(/g)?.length ?? 0
}

test.skipIf(!canWatch)(
  "the system calls of a store in a file: each commit waits for the disk before it is answered",
  () => {
    expect(countWaits(COMMITS) - countWaits(0)).toBeGreaterThanOrEqual(COMMITS)
  },
)
