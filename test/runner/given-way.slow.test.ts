import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a call that gives way to its step's task leaves no folder, also when it had a process", async () => {
  const asker = createGatedTool({ obeys: true })
  const { meanwhile, directory } = await createWorkplace({ tools: [asker.tool] })
  const { tasks } = meanwhile
  const { id: taskId, run } = await tasks.start({ tool: "gated", input: {} })
  const call = { tool: "run_command", input: { command: "sleep 1000" }, askedBy: { taskId, run, key: "ask" } }
  const executions = [tasks.execute(call), tasks.execute(call)]
  const folders = executions.map((execution) => join(directory, "data", "spool", execution.taskId))
  await eventually("both have a process", () => folders.every((folder) => existsSync(folder)))
  for (const execution of executions) await execution.promote()
  const answers = await Promise.all(executions.map((execution) => execution.answer))
  expect(new Set(answers.map((answer) => answer.outcome === "promoted" && answer.task.id)).size).toBe(1)
  await eventually("one folder is gone", () => folders.filter((folder) => existsSync(folder)).length === 1)
})

test("a call with a key is answered with the handle at its threshold, even if it is queued with a shorter limit", async () => {
  const { meanwhile } = await createWorkplace({
    background: { maxConcurrentTasks: 1, thresholdSeconds: 0.5 },
  })
  await meanwhile.tasks.start({ tool: "run_command", input: { command: "sleep 1000" } })
  const input = { command: "true", timeoutMs: 200 }
  const answer = await meanwhile.tasks.execute({ tool: "run_command", input, idempotencyKey: "k" }).answer
  expect(answer).toMatchObject({ outcome: "promoted", task: { status: "queued" } })
})
