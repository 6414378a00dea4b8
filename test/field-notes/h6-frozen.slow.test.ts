import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createEmbeddedEngine } from "../../src/engine/embedded/engine.ts"
import { createTask } from "../../src/engine/suite/samples.ts"
import { eventually } from "../support/eventually.ts"
import { stateOf } from "../support/processes.ts"
import { runToEnd } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

/** Begins a transaction, stands still in its middle, and commits when it goes on. */
const FREEZE = `
  const { DatabaseSync } = require("node:sqlite")
  const database = new DatabaseSync(process.argv[1])
  database.exec("BEGIN IMMEDIATE; UPDATE attachments SET opened_at = opened_at")
  process.kill(process.pid, "SIGSTOP")
  database.exec("COMMIT")
  setInterval(() => {}, 1_000)`

test("H6. A process frozen in the middle of a commit is named to the others that wait for it", async () => {
  const directory = createFolder()
  const path = join(directory, ".meanwhile", "store.sqlite")
  expect(await runToEnd({ directory, arguments: ["tasks"] })).toMatchObject({ exitCode: 0 })
  const told: string[] = []
  const engine = await createEmbeddedEngine({ path, tell: (line) => void told.push(line) })
  onTestFinished(() => engine.close())
  const frozen = spawn(process.execPath, ["-e", FREEZE, path], { stdio: "ignore" })
  onTestFinished(() => void frozen.kill("SIGKILL"))
  await once(frozen, "spawn")
  const { pid = 0 } = frozen
  await eventually("it stands still", () => stateOf(pid) === "T")
  const named = new RegExp(`is locked by process ${pid}, which stands still\\. Let it go on with .kill -CONT ${pid}.`)
  const written = createTask(engine)
  const [{ exitCode, stdout }] = await Promise.all([
    runToEnd({ directory, arguments: ["doctor"] }),
    eventually("it is told", () => told.length > 0),
  ])
  expect(told).toEqual([expect.stringMatching(named)])
  expect(stdout).toMatch(named)
  expect(exitCode).not.toBe(0)
  frozen.kill("SIGCONT")
  await written
  await eventually("its end is told", () => told.length === 2)
  expect(told[1]).toMatch(/is back, after \d+ s/)
})
