import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"
import { builtProgram } from "../support/built-program.ts"
import { WHOLE } from "../support/session/outage-scenario.ts"
import { createFolder } from "../support/workplace.ts"

const fixture = builtProgram("outage-on-full-disk")
/** A file system of the test's own needs no rights where the machine lets a user have namespaces. */
const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0

test.skipIf(!canMount)("a disk that is full from the middle of a turn on loses nothing, and is told once", () => {
  const script = 'mount -t tmpfs -o size=4m tmpfs "$1" && exec "$2" "$3" "$1" "$4"'
  const words = ["sh", createFolder(), process.execPath, fixture, createFolder()]
  const child = spawnSync("unshare", ["-rm", "sh", "-c", script, ...words], {
    encoding: "utf8",
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  })
  expect(child.stderr).toBe("")
  expect(JSON.parse(child.stdout)).toEqual({
    ...WHOLE,
    told: [expect.stringMatching(/the disk is full.*Waiting for it/), expect.stringMatching(/is back, after \d+ s/)],
  })
})
