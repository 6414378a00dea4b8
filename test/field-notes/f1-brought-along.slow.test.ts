import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { createRuntime, type Runtime } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { runToEnd, startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const NOBODY = 65_534

/** Somebody who can become another user makes the folder; anybody else has the one above all homes. */
function createForeignFolder(): string {
  if (process.getuid?.() !== 0) return dirname(homedir())
  const folder = createFolder()
  chmodSync(folder, 0o777)
  chownSync(folder, NOBODY, NOBODY)
  return folder
}

/** Queues a command that writes the file. */
async function sendCommand(dataDirectory: string, canary: string): Promise<Runtime> {
  const plugins = [createShellPlugin({ workingDirectory: dirname(canary) })]
  const sender = await createRuntime({ dataDirectory, takesWork: false, plugins })
  await sender.tasks.start({ plugin: "shell", tool: "run_command", input: { command: `touch ${canary}` } })
  return sender
}

/** A project with a data folder that the person's programs have made. */
async function createOwn() {
  const { directory, home, say } = await createProject()
  const data = join(directory, ".meanwhile")
  rmSync(data, { recursive: true })
  expect(await say("run", "hello")).toMatchObject({ exitCode: 0 })
  const canary = join(home, "canary")
  return { directory, data, canary, say, hasRun: () => existsSync(canary) }
}

/** A project with a store that somebody else has made: a command waits in it that would write a file. */
async function createProject() {
  const root = createFolder()
  const directory = join(root, "project")
  const home = join(root, "home")
  mkdirSync(directory)
  mkdirSync(home)
  const canary = join(root, "canary")
  const sender = await createRuntime({
    dataDirectory: join(directory, ".meanwhile"),
    takesWork: false,
    plugins: [createShellPlugin({ workingDirectory: directory })],
  })
  const input = { command: `touch ${canary}` }
  const { id } = await sender.tasks.start({ plugin: "shell", tool: "run_command", input })
  await sender.close()
  const settings = { directory, environment: { HOME: home }, isDataForeign: true }
  return {
    directory,
    home,
    id,
    hasRun: () => existsSync(canary),
    say: (...words: readonly string[]) => runToEnd({ ...settings, arguments: words }),
    open: (...words: readonly string[]) => startInTerminal({ ...settings, arguments: words }),
    /** Runs with a variable in the environment. */
    sayWith: (variable: Readonly<Record<string, string>>, ...words: readonly string[]) =>
      runToEnd({ ...settings, arguments: words, environment: { HOME: home, ...variable } }),
  }
}

describe("F1. A project folder brought along with a store that holds a queued command: nothing of it runs before the person has said so, in the chat, in `run` and in a worker", () => {
  test.each([[["run", "hello"]], [["worker"]], [[]]])(
    "not by `meanwhile` with %j",
    async (words: readonly string[]) => {
      const project = await createProject()
      const refused = await project.say(...words)
      expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("was not made by your programs") })
      expect(refused.stderr).toContain("It holds 1 queued task and no conversations; nothing of it runs.")
      const looked = await project.say("tasks")
      expect(looked).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("nothing of it runs") })
      expect(looked.stdout).toContain(project.id.slice(0, 8))
      expect(project.hasRun()).toBe(false)
    },
  )

  test("a chat asks first, and a no ends it", async () => {
    const project = await createProject()
    const chat = project.open()
    await chat.shows(/1 queued task and no conversations[^]*Run the work of this folder here\? \[y\/N\]/)
    chat.type("")
    expect(await chat.exited).toBe(2)
    expect(project.hasRun()).toBe(false)
  })

  test("what was typed before the question appeared does not answer it", async () => {
    const project = await createProject()
    const chat = project.open()
    chat.type("y")
    await chat.shows(/Run the work of this folder here\? \[y\/N\]/)
    chat.type("")
    expect(await chat.exited).toBe(2)
    expect(project.hasRun()).toBe(false)
  })

  test("a yes is remembered: the next start does not ask", async () => {
    const project = await createProject()
    const chat = project.open()
    await chat.shows(/Run the work of this folder here\? \[y\/N\]/)
    chat.type("y")
    await chat.shows(/completed/)
    expect(project.hasRun()).toBe(true)
    chat.type("/quit")
    expect(await chat.exited).toBe(0)
    expect(await project.say("run", "hello")).toMatchObject({ exitCode: 0 })
    expect((await project.say("trust", "list")).stdout).toContain(join(project.directory, ".meanwhile"))
  })

  test("a folder of one's own is known, and its copy, its move and another store in it are not", async () => {
    const project = await createProject()
    const data = join(project.directory, ".meanwhile")
    const sent = join(project.directory, "sent")
    renameSync(data, sent)
    expect(await project.say("run", "hello")).toMatchObject({ exitCode: 0 })
    expect(await project.say("run", "hello")).toMatchObject({ exitCode: 0 })
    cpSync(data, join(project.directory, "copy"), { recursive: true })
    const copied = await project.say("run", "--data-dir", "copy", "hello")
    expect(copied).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("is a copy of one your programs made"),
    })
    for (const name of ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"])
      rmSync(join(data, name), { force: true })
    cpSync(join(sent, "store.sqlite"), join(data, "store.sqlite"))
    const replaced = await project.say("worker")
    expect(replaced).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("its store was replaced") })
    expect(await project.say("run", "--trust", "hello")).toMatchObject({ exitCode: 0 })
    writeFileSync(join(data, "store.sqlite-wal"), "a log that a checkout has put there")
    const logged = await project.say("worker")
    expect(logged).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("its store was replaced") })
    expect(project.hasRun()).toBe(false)
  })

  test("a log that belongs to the store and was put beside it: not even after somebody has looked", async () => {
    const { data, ...project } = await createOwn()
    const sent = join(project.directory, "sent")
    cpSync(data, sent, { recursive: true })
    const sender = await sendCommand(sent, project.canary)
    cpSync(join(sent, "store.sqlite-wal"), join(data, "store.sqlite-wal"))
    await sender.close()
    const refused = { exitCode: 2, stderr: expect.stringContaining("its store was replaced") }
    expect(await project.say("doctor")).toMatchObject({ stdout: expect.stringContaining("its store was replaced") })
    expect(await project.say("worker", "--until-idle")).toMatchObject(refused)
    expect(await project.say("tasks")).toMatchObject({ stderr: expect.stringContaining("its store was replaced") })
    expect(await project.say("ledger")).toMatchObject({ exitCode: 0 })
    expect(await project.say("worker", "--until-idle")).toMatchObject(refused)
    expect(project.hasRun()).toBe(false)
    expect(await project.say("worker", "--until-idle", "--trust")).toMatchObject({ exitCode: 0 })
    expect(project.hasRun()).toBe(true)
    expect(await project.say("worker", "--until-idle")).toMatchObject({ exitCode: 0 })
  })

  test("but a folder that was looked into while a program of somebody's own had it open is known after that", async () => {
    const { data, say } = await createOwn()
    const own = await createRuntime({ dataDirectory: data, takesWork: false })
    await own.createSession().then((session) => session.send("say hello"))
    await say("tasks")
    await own.close()
    expect(await say("run", "hello")).toMatchObject({ exitCode: 0 })
  })

  test("a store whose content was overwritten with that of another one", async () => {
    const { data, ...project } = await createOwn()
    const sent = join(project.directory, "sent")
    await (await sendCommand(sent, project.canary)).close()
    writeFileSync(join(data, "store.sqlite"), readFileSync(join(sent, "store.sqlite")))
    expect(await project.say("worker", "--until-idle")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("its store was replaced"),
    })
    expect(project.hasRun()).toBe(false)
  })

  test.each([
    ["replaced by", (from: string, to: string) => renameSync(from, to)],
    ["overwritten with", (from: string, to: string) => writeFileSync(to, readFileSync(from))],
  ])("a yes is no yes to a store that was %s another one while the question stood", async (_, replace) => {
    const project = await createProject()
    const sent = join(project.directory, "sent")
    await (await sendCommand(sent, join(project.home, "canary"))).close()
    const chat = project.open()
    await chat.shows(/1 queued task and no conversations[^]*Run the work of this folder here\? \[y\/N\]/)
    replace(join(sent, "store.sqlite"), join(project.directory, ".meanwhile", "store.sqlite"))
    chat.type("y")
    await chat.shows(/has changed since you were asked about it/)
    expect(await chat.exited).toBe(2)
    expect(await project.say("worker", "--until-idle")).toMatchObject({ exitCode: 2 })
    expect(project.hasRun() || existsSync(join(project.home, "canary"))).toBe(false)
  })

  test("an empty folder of another user is asked about", async () => {
    const project = await createProject()
    rmSync(join(project.directory, ".meanwhile"), { recursive: true })
    symlinkSync(createForeignFolder(), join(project.directory, ".meanwhile"))
    expect(await project.say("run", "hello")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("belongs to another user. It holds nothing yet"),
    })
  })

  test("not into a file that a link in the folder leads to: a folder with anything but its own files is asked about", async () => {
    const { directory, home, ...project } = await createProject()
    const data = join(directory, ".meanwhile")
    rmSync(data, { recursive: true })
    mkdirSync(data)
    const victim = join(home, "victim")
    writeFileSync(victim, "mine")
    symlinkSync(victim, join(data, "keeper.log"))
    expect(await project.say("run", "hello")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("no store"),
    })
    const kept = await project.say("run", "--trust", "--no-wait", "start `sleep 0.1` in the background")
    expect(kept.exitCode).toBe(0)
    expect(readFileSync(victim, "utf8")).toBe("mine")
  })

  test("a container agrees by the id of the folder, and to that folder alone", async () => {
    const project = await createProject()
    await project.say("run", "hello")
    const id = readFileSync(join(project.directory, ".meanwhile", "folder-id"), "utf8").trim()
    expect(await project.sayWith({ MEANWHILE_TRUST_DATA: `${id}0` }, "run", "hello")).toMatchObject({ exitCode: 2 })
    expect(await project.sayWith({ MEANWHILE_TRUST_DATA: id }, "run", "hello")).toMatchObject({ exitCode: 0 })
    expect(await project.say("run", "--trust", "hello")).toMatchObject({ exitCode: 0 })
    expect(await project.say("run", "hello")).toMatchObject({ exitCode: 0 })
  })
})
