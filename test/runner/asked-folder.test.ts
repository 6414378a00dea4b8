import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { Runtime, RuntimeOptions } from "../../src/app.ts"
import { createBackgroundPlugin, type VocabularyName } from "../../src/builtin/background/background-plugin.ts"
import { createFileEditPlugin } from "../../src/builtin/file_edit/file-edit-plugin.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import type { TaskRecord } from "../../src/task/record.ts"
import { eventually } from "../support/eventually.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"

const QUESTION = { kind: "approval", text: "May it run?" } as const
const ASKING = { decide: () => ({ allowed: "ask", question: QUESTION, expiresInMs: null }) as const }

interface OpenOptions extends RuntimeOptions {
  readonly vocabulary?: VocabularyName
}

/** Programs with one store, each in a folder of its own. */
function createFolders() {
  const directory = createFolder()
  async function openIn(name: string, more: OpenOptions = {}): Promise<{ folder: string; runtime: Runtime }> {
    const { vocabulary = "meanwhile", ...options } = more
    const folder = join(directory, name)
    mkdirSync(folder, { recursive: true })
    const environment = { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: directory }
    const runtime = await openTestRuntime({
      permissions: ASKING,
      ...options,
      dataDirectory: join(directory, "data"),
      plugins: [
        createShellPlugin({ workingDirectory: folder, environment }),
        createBackgroundPlugin({ vocabulary }),
        createFileEditPlugin({ root: folder, backupDirectory: join(directory, `backups of ${name}`) }),
      ],
    })
    onTestFinished(() => runtime.close())
    return { folder: realpathSync(folder), runtime }
  }
  return { openIn }
}

/** A file that a person is asked about. */
async function writeIn({ tasks }: Runtime): Promise<TaskRecord> {
  const answer = await tasks.execute({ tool: "writeNewFile", input: { path: "x.txt", content: "x" } }).answer
  if (answer.outcome !== "promoted") throw new Error(answer.outcome)
  return answer.task
}

async function allowIn({ tasks, engine }: Runtime, { id }: TaskRecord): Promise<void> {
  const [wait] = await engine.store.waits({ taskId: id, isOpen: true })
  if (!wait) throw new Error(`Nobody asks about ${id}.`)
  await tasks.answer(wait.id, true, "me")
}

async function answerIn(runtime: Runtime, task: TaskRecord): Promise<TaskRecord> {
  await allowIn(runtime, task)
  return (await runtime.tasks.result(task.id, { waitMs: 30_000 })).task
}

test("a command that was asked about in one folder runs there, even if it is allowed from another", async () => {
  const { openIn } = createFolders()
  const asking = await openIn("a", { takesWork: false })
  const answering = await openIn("b")
  mkdirSync(join(asking.folder, "web"))
  const commands = [{ command: "pwd" }, { command: "pwd", cwd: "web" }]
  const waiting = await Promise.all(commands.map((input) => asking.runtime.tasks.start({ tool: "run_command", input })))
  const ended = await Promise.all(waiting.map((task) => answerIn(answering.runtime, task)))
  expect(ended).toMatchObject([
    { status: "completed", patch: { payload: { output: `${asking.folder}\n` } } },
    { status: "completed", patch: { payload: { output: `${join(asking.folder, "web")}\n` } } },
  ])
})

test("a file that was asked about in one folder is not changed in another of the same name", async () => {
  const { openIn } = createFolders()
  const asking = await openIn("a", { takesWork: false })
  const answering = await openIn("b")
  const waiting = await writeIn(asking.runtime)
  const task = await answerIn(answering.runtime, waiting)
  expect(task).toMatchObject({ status: "failed", failure: { message: expect.stringContaining(asking.folder) } })
  expect(existsSync(join(answering.folder, "x.txt"))).toBe(false)
})

test("a file is changed in the folder where it was asked about, by a program there", async () => {
  const { openIn } = createFolders()
  const asking = await openIn("a")
  const answering = await openIn("b")
  const waiting = await writeIn(asking.runtime)
  expect((await answerIn(answering.runtime, waiting)).status).toBe("completed")
  expect(existsSync(join(asking.folder, "x.txt"))).toBe(true)
  expect(existsSync(join(answering.folder, "x.txt"))).toBe(false)
})

test("where the folder does not exist the command does not run, and its task says which folder it wants", async () => {
  const { openIn } = createFolders()
  const asking = await openIn("a", { takesWork: false })
  const answering = await openIn("b")
  const waiting = await asking.runtime.tasks.start({ tool: "run_command", input: { command: "touch made" } })
  rmSync(asking.folder, { recursive: true })
  const task = await answerIn(answering.runtime, waiting)
  expect(task).toMatchObject({
    status: "failed",
    failure: { code: "invalid_input", message: expect.stringContaining(`there is no directory ${asking.folder} on `) },
  })
  expect(existsSync(join(answering.folder, "made"))).toBe(false)
})

test("the title of a task stays as it was asked for", async () => {
  const { openIn } = createFolders()
  const { runtime, folder } = await openIn("a", { takesWork: false })
  const execution = runtime.tasks.execute({ tool: "writeNewFile", input: { path: "x.txt", content: "x" } })
  const answer = await execution.answer
  expect(answer).toMatchObject({
    task: { title: "write x.txt", input: { path: join(folder, "x.txt"), content: "x" } },
  })
})

test("a program that takes only its own work skips a change in another folder, and says which folder nobody has", async () => {
  const { openIn } = createFolders()
  const asking = await openIn("a", { takesWork: false })
  const answering = await openIn("b", { takesWork: "own" })
  const { tasks } = answering.runtime
  const waiting = await writeIn(asking.runtime)
  const { id } = waiting
  await allowIn(answering.runtime, waiting)
  await eventually("it is left", async () => (await tasks.get(id)).missing?.needs === "folder")
  expect(await tasks.get(id)).toMatchObject({
    task: { status: "queued" },
    missing: { name: asking.folder, text: `no worker has the folder ${asking.folder}` },
  })
  const { items } = await asking.runtime.tasks.list({ statuses: ["queued"] })
  expect(items).toMatchObject([{ id, missing: { text: `no worker has the folder ${asking.folder}` } }])
  await openIn("a")
  expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect(existsSync(join(asking.folder, "x.txt"))).toBe(true)
  expect(existsSync(join(answering.folder, "x.txt"))).toBe(false)
})

test.each([
  ["meanwhile", "start_task", { tool: "run_command", input: { command: "pwd" } }, "input"],
  ["jaato", "startBackgroundTask", { tool_name: "runCommand", arguments: { command: "pwd" } }, "arguments"],
  ["penguiflow", "tasks.spawn", { mode: "job", tool_name: "run_command", tool_args: { command: "pwd" } }, "tool_args"],
] as const)("in the words of %s a start that waits to be allowed belongs where it was asked for", async (...start) => {
  const [vocabulary, tool, input, named] = start
  const { openIn } = createFolders()
  const asking = await openIn("a", { takesWork: false, vocabulary })
  const answering = await openIn("b", { takesWork: "own", vocabulary })
  const answer = await asking.runtime.tasks.execute({ tool, input }).answer
  if (answer.outcome !== "promoted") throw new Error(answer.outcome)
  const { task } = answer
  expect(task).toMatchObject({ input: { [named]: { cwd: asking.folder } }, folder: asking.folder })
  rmSync(asking.folder, { recursive: true })
  await allowIn(answering.runtime, task)
  const view = () => answering.runtime.tasks.get(task.id)
  await eventually("it is left", async () => (await view()).missing?.name === asking.folder)
  expect((await view()).task.status).toBe("queued")
})

test("a folder that was opened by a link is the one that the link leads to", async () => {
  const { openIn } = createFolders()
  const asking = await openIn("a", { takesWork: false })
  symlinkSync(asking.folder, join(asking.folder, "..", "link"))
  const answering = await openIn("link", { takesWork: "own" })
  const task = await answerIn(answering.runtime, await writeIn(asking.runtime))
  expect(task.status).toBe("completed")
  expect(existsSync(join(asking.folder, "x.txt"))).toBe(true)
})
