import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { endProcessesAfterTest, isAlive } from "../support/processes.ts"
import { runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const CONTROL_Z = "\u001a"
const LONG_COMMAND = "echo $$ > command.pid; exec sleep 300"
const SHELL = `set -m; sh -c 'echo "process $$."; exec "$@"' sh "$@"; echo "the shell goes on"; read -r answer`

function openFolder(): string {
  const directory = createFolder()
  endProcessesAfterTest(`MEANWHILE_TEST=${directory}`)
  return directory
}

function findCommand(directory: string): Promise<number> {
  return eventually("the command runs", () => {
    try {
      return Number.parseInt(readFileSync(join(directory, "command.pid"), "utf8"), 10) || undefined
    } catch {
      return undefined
    }
  })
}

test("a chat whose window is closed keeps its tasks, and ends well", async () => {
  const directory = openFolder()
  const program = startInTerminal({ directory })
  await program.shows(/you talk with/)
  program.type(`/start ${LONG_COMMAND}`)
  const command = await findCommand(directory)
  program.closeWindow()
  expect(await program.exited).toBe(0)
  expect(isAlive(command)).toBe(true)
  const { stdout } = await runToEnd({ directory, arguments: ["tasks", "list", "--all"] })
  expect(stdout).toMatch(/ running .*sleep 300/)
})

test.each([
  { how: "that is closed with its shell", isStill: false },
  { how: "that is stopped as its shell is closed", isStill: true },
])("a chat $how keeps what it runs", async ({ isStill }) => {
  const directory = openFolder()
  const program = startInTerminal({ directory, shell: SHELL })
  const pid = Number.parseInt((await program.shows(/process \d+\./)).slice("process ".length), 10)
  await program.shows(/you talk with/)
  program.type(`/run ${LONG_COMMAND}`)
  const command = await findCommand(directory)
  if (isStill) {
    program.press(CONTROL_Z)
    await program.shows(/the shell goes on/)
  }
  program.closeWindow()
  await eventually("the chat has ended", () => !isAlive(pid))
  expect(isAlive(command)).toBe(true)
})

test("a run whose window is closed is stopped as by SIGTERM", async () => {
  const directory = openFolder()
  const program = startInTerminal({ directory, arguments: ["run", "--yes", `run \`${LONG_COMMAND}\``] })
  const command = await findCommand(directory)
  program.closeWindow()
  expect(await program.exited).toBe(3)
  expect(isAlive(command)).toBe(false)
})

test("a worker whose window is closed stops its tasks, and ends well", async () => {
  const directory = openFolder()
  const worker = startInTerminal({ directory, arguments: ["worker"] })
  await worker.shows(/takes tasks from/)
  const chat = startPiped({ directory, arguments: ["--concurrency", "0"] })
  chat.type(`/start ${LONG_COMMAND}`)
  const command = await findCommand(directory)
  worker.closeWindow()
  expect(await worker.exited).toBe(0)
  expect(isAlive(command)).toBe(false)
  chat.kill("SIGTERM")
  expect(await chat.exited).toBe(0)
})

test("a worker that hears twice that its terminal is gone stops as it does after the first time", async () => {
  const worker = startPiped({ directory: createFolder(), arguments: ["worker"] })
  await worker.shows(/takes tasks from/)
  worker.kill("SIGHUP")
  worker.kill("SIGHUP")
  await worker.shows(/has stopped\./)
  expect(await worker.exited).toBe(0)
})
