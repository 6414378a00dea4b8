import { existsSync, mkdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createFileEditPlugin } from "../../src/builtin/file_edit/file-edit-plugin.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { eventually } from "../support/eventually.ts"
import { runToEnd, startPiped } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

const QUESTION = { kind: "approval", text: "May it run?" } as const
const ASKING = { decide: () => ({ allowed: "ask", question: QUESTION, expiresInMs: null }) as const }

test("a file change that is allowed from another folder is left to a program in its own, and the answer says so", async () => {
  const directory = createFolder()
  const [asked, other] = ["asked", "other"].map((name) => join(realpathSync(directory), name))
  if (!asked || !other) throw new Error("There are no folders.")
  const dataDirectory = join(directory, "data")
  for (const folder of [asked, other]) mkdirSync(folder)
  const plugins = [createFileEditPlugin({ root: asked, backupDirectory: join(directory, "backups") })]
  const asking = await createRuntime({ dataDirectory, plugins, permissions: ASKING, takesWork: false })
  const input = { path: "x.txt", content: "x" }
  const answer = await asking.tasks.execute({ tool: "writeNewFile", input }).answer
  await asking.close()
  if (answer.outcome !== "promoted") throw new Error(answer.outcome)
  const { id } = answer.task

  const data = ["--data-dir", dataDirectory]
  const answered = await runToEnd({ directory: other, arguments: ["tasks", "answer", id, "yes", ...data] })
  expect(answered.stdout).toContain(
    `is queued: no worker has the folder ${asked}. A chat or a worker that is started there runs it`,
  )
  expect(answered.exitCode).toBe(0)
  startPiped({ directory: asked, arguments: ["worker", ...data] })
  await eventually("it is written", () => existsSync(join(asked, "x.txt")))
  expect(existsSync(join(other, "x.txt"))).toBe(false)
})

test("a command that is allowed or retried from another folder waits for a program in its own folder", async () => {
  const engine = await createSharedStore()
  const [asked, other] = [createFolder(), createFolder()].map((folder) => realpathSync(folder))
  if (!asked || !other) throw new Error("There are no folders.")
  const environment = { PATH: process.env["PATH"] ?? "" }
  const asking = await createRuntime({
    engine,
    dataDirectory: join(asked, "data"),
    plugins: [createShellPlugin({ workingDirectory: asked, environment })],
    permissions: ASKING,
    takesWork: false,
  })
  const ask = async (command: string) => {
    const answer = await asking.tasks.execute({ tool: "run_command", input: { command } }).answer
    if (answer.outcome !== "promoted") throw new Error(answer.outcome)
    return answer.task.id
  }
  const [first, second] = [await ask("touch first"), await ask("touch second; test -e first")]
  await asking.close()
  const tasks = (directory: string, ...words: readonly string[]) =>
    runToEnd({ directory, arguments: ["tasks", ...words, "--engine", engine] })
  const waits = `is queued: no worker has the folder ${asked}. A chat or a worker that is started there runs it`

  const left = await tasks(other, "answer", first, "yes")
  expect(left).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(waits) })
  expect(await tasks(asked, "answer", second, "yes")).toMatchObject({ exitCode: 1 })
  expect(existsSync(join(asked, "second"))).toBe(true)
  const again = await tasks(other, "retry", second)
  expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(waits) })
  expect(existsSync(join(asked, "first"))).toBe(false)
  startPiped({ directory: asked, arguments: ["worker", "--engine", engine] })
  await eventually("what was left is run", () => existsSync(join(asked, "first")))
})
