import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { findStandard } from "../../src/builtin/shell/installed-program.ts"
import { programsWith } from "../../src/builtin/shell/known-programs.ts"
import { createRunCommand } from "../../src/builtin/shell/run-command.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { toInputSchema } from "../../src/plugin/input-schema.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { PersonChannel } from "../../src/plugin/person-port.ts"
import { createSessionId, type WaitId } from "../../src/task/id.ts"
import type { TaskRecord } from "../../src/task/record.ts"
import type { RuntimeOptions } from "../../src/app.ts"
import { createContext } from "../support/builtin/shell.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { parsed } from "../support/plugin/parsed.ts"

const STANDARD_PATH = "/usr/local/bin:/usr/bin:/bin"

/** A project with programs of its own, which a worker started by `npm run` finds before all others. */
function createProject() {
  const directory = createFolder()
  const own = join(directory, "node_modules", ".bin")
  const trap = join(directory, "trapped")
  mkdirSync(own, { recursive: true })
  for (const name of ["ls", "mkdir", "cat", "head"]) {
    writeFileSync(join(own, name), `#!/bin/sh\necho "$0" >> ${trap}\n`)
    chmodSync(join(own, name), 0o755)
  }
  const open = async (path: string, options: Partial<RuntimeOptions> = {}) => {
    const shell = createShellPlugin({ workingDirectory: directory, environment: { PATH: path } })
    const runtime = await openTestRuntime({ dataDirectory: join(directory, "data"), plugins: [shell], ...options })
    onTestFinished(() => runtime.close())
    return runtime
  }
  return {
    directory,
    hasTrapped: () => existsSync(trap),
    open: (options: Partial<RuntimeOptions> = {}) => open(STANDARD_PATH, { takesWork: false, ...options }),
    openBare: () => open("/nowhere"),
    openWorker: () => open(`${own}:${STANDARD_PATH}`),
  }
}

const session = createSessionId()

test("F2. A command that one process has judged harmless runs as that very program in any other, whatever its PATH", async () => {
  const project = createProject()
  const asking = await project.open()
  const { id, status } = await asking.tasks.start({ tool: "run_command", input: { command: "ls -a" }, session })
  expect(status).toBe("queued")
  await project.openWorker()
  const { task } = await asking.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "completed", input: { withoutShell: true } })
  expect((await asking.tasks.output(id)).text).toContain("node_modules")
  expect(project.hasTrapped()).toBe(false)
})

test("F2. So does one that a rule allows by its effects", async () => {
  const project = createProject()
  const rules = [{ tool: "run_command", effects: ["write" as const], decision: "allow" as const }]
  const asking = await project.open({ permissions: { rules } })
  const { id, status } = await asking.tasks.start({ tool: "run_command", input: { command: "mkdir made" }, session })
  expect(status).toBe("queued")
  await project.openWorker()
  expect((await asking.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect(existsSync(join(project.directory, "made"))).toBe(true)
  expect(project.hasTrapped()).toBe(false)
})

test("F2. What is no longer harmless when its turn comes is refused, and no shell runs it", async () => {
  const project = createProject()
  const link = join(project.directory, "notes")
  writeFileSync(link, "plain")
  const asking = await project.open()
  const { id } = await asking.tasks.start({ tool: "run_command", input: { command: "cat notes" }, session })
  rmSync(link)
  symlinkSync("/proc/self/environ", link)
  await project.openWorker()
  const { task } = await asking.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({
    status: "failed",
    failure: { code: "wrong_state", message: expect.stringContaining("so it was not run") },
  })
  expect((await asking.tasks.output(id)).text).toBe("")
})

test("F2. A program that is missing where the command runs is named, and nothing runs in its place", async () => {
  // `fd` and `fdfind` are one program: a system has it under one of the names.
  const missing = programsWith("none").find((name) => findStandard(name) === undefined)
  const tool = createRunCommand({
    shell: "/bin/sh",
    environment: { PATH: STANDARD_PATH },
    extraPaths: [],
    workingDirectory: "/",
  })
  const { context, requests } = createContext("")
  const call = parsed(tool.input, { command: `${missing} a`, withoutShell: true })
  await expect(tool.run(call, context)).rejects.toThrow(`admitted as the installed program ${missing}`)
  expect(requests).toEqual([])
})

test("F2. A model is not told of the field that says so, and allows itself nothing by it", async () => {
  const tool = createRunCommand({
    shell: "/bin/sh",
    environment: { PATH: STANDARD_PATH },
    extraPaths: [],
    workingDirectory: "/",
  })
  expect(toInputSchema(tool.input)["properties"]).not.toHaveProperty("withoutShell")
  for (const command of ["./evil", "ls; ./evil", "cat /proc/1/environ"]) {
    const call = parsed(tool.input, { command, withoutShell: true })
    expect(typeof tool.effects === "function" && tool.effects(call)).toContain("unknown")
    const { context, requests } = createContext("")
    await expect(tool.run(call, context)).rejects.toThrow("so it was not run")
    expect(requests).toEqual([])
  }
})

const UNPLAIN = "echo a >> made; cat made"

test("F2. What a person has allowed runs, although the model sets that field itself", async () => {
  const project = createProject()
  const asked: string[] = []
  const person: PersonChannel = {
    name: "test",
    async ask({ detail }) {
      asked.push(detail ?? "")
      return { isAnswered: true, value: "yes", by: "test" }
    },
  }
  const input = { command: UNPLAIN, withoutShell: true }
  const model = createScriptedModel([{ calls: [{ tool: "run_command", input }] }, "done"])
  const runtime = await project.open({ takesWork: true, model, person })
  const conversation = await runtime.createSession()
  await conversation.send("make it")
  expect(asked).toEqual([expect.stringContaining(UNPLAIN)])
  expect(readFileSync(join(project.directory, "made"), "utf8")).toBe("a\n")
})

test("F2. So does what was begun again, whatever it was judged as before", async () => {
  const project = createProject()
  const link = join(project.directory, "notes")
  writeFileSync(link, "plain")
  const { tasks } = await project.open({ takesWork: true })
  const { id } = await tasks.start({ tool: "run_command", input: { command: "cat notes none" }, session })
  expect((await tasks.result(id, { waitMs: 30_000 })).task).toMatchObject({ status: "failed" })
  rmSync(link)
  symlinkSync("/proc/self/environ", link)
  await tasks.answer(waitOf(await tasks.retry(id)), true, "somebody")
  const { task } = await tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({
    status: "failed",
    failure: { code: "exit_nonzero" },
    input: { command: "cat notes none" },
  })
  expect(task.input).not.toHaveProperty("withoutShell")
  expect((await tasks.output(id)).text).toContain("PATH=")
})

test("F2. What is judged harmless only when it is begun again runs as that program, too", async () => {
  const project = createProject()
  const bare = await project.openBare()
  const asked = await bare.tasks.start({ tool: "run_command", input: { command: "ls -a" }, session })
  await bare.tasks.answer(waitOf(asked), true, "somebody")
  const { id } = asked
  expect((await bare.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("failed")
  await bare.close()
  const { tasks } = await project.open()
  expect((await tasks.retry(id)).status).toBe("queued")
  await project.openWorker()
  expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect(project.hasTrapped()).toBe(false)
})

function waitOf(task: TaskRecord): WaitId {
  if (task.status !== "waiting") throw new Error(`It is ${task.status}, and should wait.`)
  return task.wait.id
}
