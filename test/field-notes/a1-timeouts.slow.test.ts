import { describe, expect, test } from "vitest"
import { z } from "zod"
import { toJson } from "../../src/base/json.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { processesOf } from "../support/processes.ts"
import { createWorkplace } from "../support/workplace.ts"

const STUBBORN = "trap '' TERM; sleep 300 & while :; do sleep 300; done"

describe("A1. A timeout that was accepted is enforced, and ends as `timed_out`", () => {
  const background = { stopGraceSeconds: 0.2, thresholdSeconds: 0.2 }

  test("of a process that was started in the background", async () => {
    const { meanwhile } = await createWorkplace({ background })
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command: STUBBORN }, timeoutMs: 300 })
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "timed_out", stop: { by: "deadline" }, survivors: [] })
    expect(processesOf(id)).toEqual([])
  })

  test("of a process that was promoted", async () => {
    const { meanwhile } = await createWorkplace({ background })
    const { tasks } = meanwhile
    const execution = tasks.execute({ tool: "run_command", input: { command: STUBBORN }, timeoutMs: 500 })
    expect((await execution.answer).outcome).toBe("promoted")
    const { task } = await tasks.result(execution.taskId, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "timed_out", stop: { by: "deadline" }, survivors: [] })
    expect(processesOf(execution.taskId)).toEqual([])
  })

  test("of a process in the foreground", async () => {
    const runs = defineTool({
      name: "runs",
      description: "Runs a command and cannot move to the background.",
      background: { mode: "never" },
      input: z.object({}),
      run: async (_input, { processes }) => {
        const env = { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: folder.path }
        return toJson(await processes.run({ argv: ["sh", "-c", STUBBORN], cwd: folder.path, env }))
      },
    })
    const folder = { path: "" }
    const { meanwhile, directory } = await createWorkplace({ background, tools: [runs] })
    folder.path = directory
    const execution = meanwhile.tasks.execute({ tool: "runs", input: {}, timeoutMs: 300 })
    expect(await execution.answer).toMatchObject({ outcome: "timed_out", by: "deadline", survivors: [] })
    expect(processesOf(execution.taskId)).toEqual([])
    expect((await meanwhile.tasks.list({})).items).toEqual([])
  })
})
