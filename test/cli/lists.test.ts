import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { retryCommand, taskCommand, tasksCommand } from "../../src/cli/command/task-commands.ts"
import { formatTaskRow } from "../../src/cli/format/format-task-row.ts"
import { formatTaskView } from "../../src/cli/format/format-task-view.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { createTask, sampleWait, WORKER } from "../../src/engine/suite/samples.ts"
import { showCommand } from "../support/show-command.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"

/** A task that no worker takes. */
async function openWithQueued(command: string) {
  const [workingDirectory, dataDirectory] = [createFolder(), createFolder()]
  const shell = createShellPlugin({ workingDirectory, environment: {} })
  const meanwhile = await createRuntime({ dataDirectory, takesWork: false, plugins: [shell] })
  onTestFinished(() => meanwhile.close())
  await meanwhile.tasks.start({ tool: "run_command", input: { command } })
  return meanwhile
}

test("a task that is queued is listed with how long it has waited", async () => {
  const { tasks } = await openWithQueued("sleep 1")
  const { items } = await tasks.list({})
  const [row] = items
  if (row?.status !== "queued") throw new Error("it is not queued")
  const standing = { placeInQueue: 1, groupName: null, worker: null, firstStartedAt: null, heldUpBy: [] }
  expect(formatTaskRow({ task: row, ...standing }, row.queuedAt + 65_000, 100)).toMatch(/queued +1 min 5 s +.*sleep 1/)
})

test("a narrow list says which task is which before it says how far each is", async () => {
  const { tasks } = await openWithQueued("sleep 1")
  const [row] = (await tasks.list({})).items
  if (row?.status !== "queued") throw new Error("it is not queued")
  const activity = { toolCalls: 1, tokens: 5_995, lastTools: ["run_command"], at: 0 }
  const progress = { done: null, total: null, phase: "using run_command", line: null, activity }
  const { missing: _missing, ...rest } = row
  const title = "reviewer: Read the changes of today and say what is wrong"
  const task = {
    ...rest,
    status: "running",
    worker: WORKER,
    startedAt: row.queuedAt,
    resumeCount: 1,
    title,
    progress,
  } as const
  const standing = { placeInQueue: null, groupName: null, worker: null, firstStartedAt: null, heldUpBy: [] }
  const shown = (columns: number) => formatTaskRow({ task, ...standing }, row.queuedAt + 2_000, columns)
  expect(shown(80)).toMatch(/running +2\.0 s  \(resumed\) reviewer: Read the… · using run_…$/)
  expect(shown(80).length).toBeLessThanOrEqual(80)
  expect(shown(200)).toContain(`${title} · using run_command · 1 call · 5995 tokens`)
})

test("a narrow list says that a task needs an answer, and not that it lacks a worker", async () => {
  const runtime = await openTestRuntime({ dataDirectory: createFolder(), takesWork: false })
  onTestFinished(() => runtime.close())
  const approval = sampleWait({ reason: "approval", question: { kind: "may_it_run", text: "May it run?" } })
  await createTask(runtime.engine, { as: "waiting", wait: approval })
  const [row] = (await runtime.desk(LOCAL_PERSON).tasks.rows({}, { limit: 1 })).items
  if (!row) throw new Error("there is no task")
  const missing = { needs: "worker", name: "", text: "no worker is there" } as const
  const task = { ...row.task, missing, title: "reviewer: Read the changes of today and say what is wrong" }
  expect(formatTaskRow({ ...row, task }, 0, 80)).toMatch(/reviewer: Read the changes of… · needs you$/)
})

test("a list that goes into a pipe is not cut", async () => {
  const command = `: ${"word ".repeat(12)}end`
  const meanwhile = await openWithQueued(command)
  expect(await showCommand(tasksCommand, "", meanwhile)).toContain(command)
})

test("a last line that is very long is cut where a task is shown", async () => {
  const { tasks } = await openWithQueued("sleep 1")
  const { items } = await tasks.list({})
  const view = await tasks.get(items[0]?.id ?? "")
  const beside = { group: null, questions: [], firstStartedAt: null, heldUpBy: [], below: [] }
  const shown = formatTaskView(
    { view: { ...view, outputBytes: 600, lastLine: "x".repeat(600) }, ...beside },
    Date.now(),
  )
  expect(shown).toMatch(/^last line x{100,170}…$/m)
})

test("a word behind the id of a task is refused with the usage", async () => {
  const meanwhile = await openWithQueued("sleep 1")
  for (const command of [taskCommand, retryCommand])
    await expect(showCommand(command, "3970 extra", meanwhile)).rejects.toThrow(
      `/${command.name} does not understand "extra". Usage: /${command.name} ID`,
    )
})

test("a retry of a task that no worker can run says what is missing", async () => {
  const meanwhile = await openWithQueued("sleep 1")
  const [{ id } = { id: "" }] = (await meanwhile.tasks.list({})).items
  await meanwhile.tasks.cancel(id, { by: "person" })
  expect(await showCommand(retryCommand, id, meanwhile)).toMatch(
    /run 2 is queued; its end will be announced \(it waits: no worker is there\)\n/,
  )
})

test("a task that does not run again is refused with the id that other lines have", async () => {
  const meanwhile = await openWithQueued("sleep 1")
  const [{ id } = { id: "" }] = (await meanwhile.tasks.list({})).items
  await expect(showCommand(retryCommand, id, meanwhile)).rejects.toMatchObject({
    code: "wrong_state",
    message: `[${id.slice(0, 8)}] is queued: only failed, timed out, interrupted and cancelled tasks run again.`,
  })
})

test("a folder that does not exist is reported as missing", async () => {
  const { tasks } = await openWithQueued("sleep 1")
  const started = tasks.start({ tool: "run_command", input: { command: "ls", cwd: "/nowhere" } })
  await expect(started).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/^The cwd of run_command cannot be used: there is no directory \/nowhere on \S+$/),
  })
})
