import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { createFolder } from "../support/workplace.ts"

const IN_TURN = fileURLToPath(new URL("../../scripts/in-turn.ts", import.meta.url))

function runInTurn(...args: readonly string[]) {
  const folder = createFolder()
  const said = "console.log(...process.argv.slice(3))\nprocess.exitCode = Number(process.argv[2])"
  writeFileSync(join(folder, "say.mjs"), said)
  const scripts = { good: "node say.mjs 0 good", bad: "node say.mjs 3 bad", worse: "node say.mjs 4 worse" }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts }))
  const { status, stdout } = spawnSync(process.execPath, [IN_TURN, ...args], { cwd: folder, encoding: "utf8" })
  return { status, said: stdout.trim().split("\n") }
}

test("scripts that run in turn run although one before them failed, and the first failure is the exit code", () => {
  expect(runInTurn("bad", "good", "worse", "--", "--mode", "x")).toEqual({
    status: 3,
    said: ["bad --mode x", "good", "worse"],
  })
  expect(runInTurn("good", "worse", "--")).toEqual({ status: 4, said: ["good", "worse"] })
})
