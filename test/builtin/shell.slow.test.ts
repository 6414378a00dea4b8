import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Answer } from "../../src/plugin/task-service.ts"
import { createFolder, createWorkplace, type WorkplaceOptions } from "../support/workplace.ts"

async function run(input: Record<string, unknown>, options: WorkplaceOptions = {}) {
  const workplace = await createWorkplace(options)
  const { tasks } = workplace.meanwhile
  const execution = tasks.execute({ tool: "run_command", input })
  return { ...workplace, tasks, execution, answer: await execution.answer }
}

const payloadOf = (answer: Answer): unknown =>
  answer.outcome === "completed" || answer.outcome === "failed" ? answer.patch?.payload : undefined

test("a command prints, exits with 0 and leaves no task", async () => {
  const { answer, tasks } = await run({ command: "echo out; echo err >&2" })
  expect(answer.outcome).toBe("completed")
  expect(payloadOf(answer)).toMatchObject({ exitCode: 0, output: "out\nerr\n", truncated: false, survivors: [] })
  expect((await tasks.list({})).items).toEqual([])
})

test("a command that exits with another code is a failure that keeps its output", async () => {
  const { answer } = await run({ command: "echo broken; exit 3" })
  expect(answer).toMatchObject({ outcome: "failed", failure: { code: "exit_nonzero" } })
  expect(payloadOf(answer)).toMatchObject({ exitCode: 3, output: "broken\n" })
})

test("a command sees the environment of the plugin and of the call, and nothing else", async () => {
  process.env["MEANWHILE_TEST_SECRET"] = "must not be seen"
  const { answer } = await run({ command: "env | cut -d= -f1 | sort", env: { GIVEN: "yes" } })
  delete process.env["MEANWHILE_TEST_SECRET"]
  const { output } = payloadOf(answer) as { output: string }
  expect(output).toContain("GIVEN\n")
  expect(output).toContain("PATH\n")
  expect(output).not.toContain("MEANWHILE_TEST_SECRET")
  expect(output).not.toContain("HOME")
})

test("a command runs in the directory of the call", async () => {
  const { meanwhile, directory } = await createWorkplace()
  mkdirSync(join(directory, "web"))
  const { answer } = meanwhile.tasks.execute({ tool: "run_command", input: { command: "pwd", cwd: "web" } })
  expect((payloadOf(await answer) as { output: string }).output).toBe(`${join(directory, "web")}\n`)
})

test("a directory that does not exist is refused; nothing starts and nothing is written", async () => {
  const { meanwhile, directory } = await createWorkplace()
  const input = { command: "touch ran", cwd: "missing" }
  await expect(meanwhile.tasks.execute({ tool: "run_command", input }).answer).rejects.toMatchObject({
    code: "invalid_input",
  })
  const started = meanwhile.tasks.start({ tool: "run_command", input })
  await expect(started).rejects.toMatchObject({ code: "invalid_input" })
  await expect(started).rejects.toThrow(`there is no directory ${join(directory, "missing")}`)
  expect((await meanwhile.tasks.list({})).items).toEqual([])
})

test("the time limit that a call asks for ends the command", async () => {
  const { answer, tasks } = await run({ command: "sleep 60", timeoutMs: 300 })
  expect(answer).toMatchObject({ outcome: "timed_out", by: "deadline", survivors: [] })
  expect((await tasks.list({})).items).toEqual([])
})

test("a server leaves the foreground before other commands do, with its output so far", async () => {
  const { answer, tasks, execution } = await run({ command: "echo ready; exec tail -f /dev/null" })
  expect(answer).toMatchObject({
    outcome: "promoted",
    task: { status: "running", title: "echo ready; exec tail -f /dev/null", limits: { timeoutMs: null } },
  })
  if (answer.outcome === "promoted") expect(answer.afterMs).toBeLessThan(5_000)
  expect((await tasks.output(execution.taskId)).text).toBe("ready\n")
  await tasks.cancel(execution.taskId)
  const { task } = await tasks.result(execution.taskId, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "cancelled", survivors: [] })
})

test("long output comes back as head and tail, and the task has all of it", async () => {
  const { meanwhile } = await createWorkplace()
  const { tasks } = meanwhile
  const started = await tasks.start({ tool: "run_command", input: { command: "seq 1 50000; echo the end" } })
  const { task, outputBytes } = await tasks.result(started.id, { waitMs: 20_000 })
  const { output, truncated } = (task.status === "completed" ? task.patch.payload : {}) as Record<string, unknown>
  expect(truncated).toBe(true)
  expect(String(output).startsWith("1\n2\n3\n")).toBe(true)
  expect(String(output).endsWith("50000\nthe end\n")).toBe(true)
  expect(String(output)).toContain(`of ${outputBytes} bytes left out here`)
  expect((await tasks.output(started.id, { tailBytes: 8 })).text).toBe("the end\n")
})

test("a key that a command prints does not come back in the result", async () => {
  const { answer } = await run({ command: "printf 'key is ghp_%s' 0123456789abcdefghijklmnopqrstuvwxyz" })
  expect(answer.outcome).toBe("completed")
  expect(JSON.stringify(answer)).not.toContain("ghp_0123456789abcdefghijklmnopqrstuvwxyz")
})

test("an install is expected to take half a minute until its duration has been learned", async () => {
  const { meanwhile } = await createWorkplace()
  const estimate = await meanwhile.tasks.estimate({ tool: "run_command", input: { command: "npm ci" } })
  expect(estimate).toEqual({ medianMs: 30_000, p90Ms: 30_000, source: "guess" })
  expect(await meanwhile.tasks.estimate({ tool: "run_command", input: { command: "ls" } })).toBeNull()
})

test("a command that runs without a question lets no files of a project make git run a program", async () => {
  const folder = createFolder()
  const trap = join(folder, "fixture")
  for (const name of ["objects", "refs"]) mkdirSync(join(trap, name), { recursive: true })
  writeFileSync(join(trap, "HEAD"), "ref: refs/heads/main\n")
  const program = `fsmonitor = "touch ${join(folder, "trapped")}; false"`
  const settings = ["[core]", "repositoryformatversion = 0", "bare = false", "worktree = .", program]
  writeFileSync(join(trap, "config"), `${settings.join("\n")}\n`)
  await run({ command: `git -C ${trap} status` })
  await run({ command: "git status", cwd: trap })
  expect(existsSync(join(folder, "trapped"))).toBe(false)
})
