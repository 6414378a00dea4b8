import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { isAlive, processesOf } from "../support/processes.ts"
import { runToEnd, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const tasks = async (directory: string, ...words: readonly string[]) =>
  (await runToEnd({ directory, arguments: ["tasks", ...words] })).stdout

interface Listed {
  readonly id: string
  readonly status: string
}

async function killWithTask(directory: string, command: string): Promise<{ id: string; pid: number }> {
  const chat = startPiped({ directory })
  chat.type(`/start ${command}`)
  await chat.shows(/\[[0-9a-f]{8}\] is running/)
  const [task] = (await tasks(directory, "list", "--json")).trim().split("\n")
  const { id } = JSON.parse(task ?? "") as Listed
  const [pid = 0] = await eventually("it runs", () => processesOf(id).length > 0 && processesOf(id))
  chat.kill("SIGKILL")
  await chat.exited
  return { id, pid }
}

test("a prompt in a killed chat's folder leaves its task alone, and the next chat has its output and exit code", async () => {
  const directory = createFolder()
  const { id, pid } = await killWithTask(
    directory,
    "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo ended; exit 3",
  )
  const said = await runToEnd({ directory, arguments: ["run", "say hi"] })
  expect(said).toMatchObject({ exitCode: 0 })
  expect(said.stdout + said.stderr).not.toContain("begun")
  expect(isAlive(pid)).toBe(true)
  expect(await tasks(directory, "show", id)).toMatch(/status {4}running/)

  const chat = startPiped({ directory })
  chat.type("/run touch go")
  await chat.shows(new RegExp(`\\[${id.slice(0, 8)}\\] failed after .*exited with 3`))
  chat.endInput()
  await chat.exited
  expect(await tasks(directory, "output", id)).toBe("begun\nended\n")
})

test("a prompt in the folder of a killed chat says nothing of that chat's turn, and leaves it for another program", async () => {
  const directory = createFolder()
  const chat = startPiped({ directory })
  chat.type("count to 400 slowly")
  await chat.shows(/1 2/)
  chat.kill("SIGKILL")
  await chat.exited
  const { stdout, stderr } = await runToEnd({ directory, arguments: ["run", "--json", "hello"] })
  expect(stdout + stderr).not.toContain("1 2 3")
  expect(await tasks(directory, "list", "--all")).toMatch(/running .*count to 400 slowly/)
})

test("retrying one task of a killed chat leaves the others alone, and cancelling one ends only that one", async () => {
  const directory = createFolder()
  const failed = startPiped({ directory })
  failed.type("/start exit 3")
  const ended = (await failed.shows(/\[[0-9a-f]{8}\] failed after/)).slice(1, 9)
  failed.endInput()
  await failed.exited
  const { id, pid } = await killWithTask(directory, "sleep 300")
  expect(await tasks(directory, "retry", ended)).toMatch(/failed after .* exited with 3/)
  expect(isAlive(pid)).toBe(true)
  expect(await tasks(directory, "cancel", id)).toMatch(/cancelled after .* by person/)
  await eventually("it has ended", () => !isAlive(pid))
})
