import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { openProgram } from "../../src/program/open-program.ts"
import { createFolder } from "../support/workplace.ts"

const KEY = "sk-ant-not-a-real-key-0123456789"

test.each([
  ["see none of the keys of model providers", {}, "[]"],
  ["see them when the configuration says so", { MEANWHILE_SHELL_PASS_MODEL_KEYS: "true" }, "[set]"],
])("commands %s", async (_sentence, more, printed) => {
  const folder = createFolder()
  const homeDirectory = join(folder, "home")
  mkdirSync(homeDirectory)
  const runtime = await openProgram({
    dataDirectory: join(folder, "data"),
    workingDirectory: folder,
    homeDirectory,
    environment: { PATH: process.env["PATH"], MEANWHILE_TEST: folder, ANTHROPIC_API_KEY: KEY, ...more },
    trust: false,
    notify: () => {},
  })
  onTestFinished(() => runtime.close())
  const command = 'echo "[${ANTHROPIC_API_KEY:+set}]"'
  const answer = await runtime.desk(LOCAL_PERSON).tasks.execute({ tool: "run_command", input: { command } }, {}).answer
  expect(answer).toMatchObject({ outcome: "completed", patch: { payload: { output: `${printed}\n` } } })
})
