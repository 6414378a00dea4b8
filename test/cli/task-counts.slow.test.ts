import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { runToEnd } from "../support/program.ts"
import { createSharedStore } from "../support/shared-store.ts"
import { createFolder } from "../support/workplace.ts"

test.each(["embedded", "postgres"])("tasks say how old the queue is, to people and to programs (%s)", async (name) => {
  const directory = createFolder()
  const engine = name === "postgres" ? await createSharedStore() : undefined
  const desk = await createRuntime({
    takesWork: false,
    dataDirectory: `${directory}/.meanwhile`,
    plugins: [createShellPlugin({ workingDirectory: directory, environment: {} })],
    ...(engine !== undefined && { engine }),
  })
  onTestFinished(() => desk.close())
  const words = engine === undefined ? [] : ["--engine", engine]
  const tasks = (...more: readonly string[]) => runToEnd({ directory, arguments: ["tasks", ...more, ...words] })
  const count = async () =>
    JSON.parse((await tasks("count", "--json")).stdout) as { byStatus: object; queueAgeMs: number | null }

  expect(await count()).toMatchObject({ byStatus: { queued: 0 }, queueAgeMs: null })
  await desk.tasks.start({ tool: "run_command", input: { command: "echo first" } })
  const early = await count()
  await desk.tasks.start({ tool: "run_command", input: { command: "echo second" } })
  const late = await count()
  expect(early).toMatchObject({ byStatus: { queued: 1 } })
  expect(late).toMatchObject({ byStatus: { queued: 2, running: 0 } })
  // Each program starts after the one before: by then the first task is older, and it stays the oldest.
  expect(early.queueAgeMs).toBeGreaterThan(0)
  expect(late.queueAgeMs).toBeGreaterThan(early.queueAgeMs ?? 0)
  expect((await tasks("count")).stdout).toMatch(/^2 queued \(the oldest for [\d.]+ (?:ms|s|min .*)\)\n$/)
  expect((await tasks()).stdout).toMatch(/^2 queued \(the oldest for [\d.]+ (?:ms|s|min .*)\)$/m)
})
