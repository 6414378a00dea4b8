import { describe, expect, test } from "vitest"
import { processesOf } from "../support/processes.ts"
import { createWorkplace } from "../support/workplace.ts"

const STUBBORN = "trap '' TERM; sleep 300 & while :; do sleep 300; done"

describe("A1. A timeout that was accepted is enforced, and ends as `timed_out`", () => {
  const background = { stopGraceSeconds: 0.2, backgroundThresholdSeconds: 0.2 }

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
    const { meanwhile } = await createWorkplace({ background: { ...background, timeoutOverrideSeconds: 0.3 } })
    const command = `${STUBBORN} # npm install`
    const execution = meanwhile.tasks.execute({ tool: "run_command", input: { command } })
    const answer = await execution.answer
    if (answer.outcome === "promoted") {
      const { task } = await meanwhile.tasks.result(execution.taskId, { waitMs: 20_000 })
      expect(task).toMatchObject({ status: "timed_out", stop: { by: "deadline" }, survivors: [] })
    } else expect(answer).toMatchObject({ outcome: "timed_out", by: "deadline", survivors: [] })
    expect(processesOf(execution.taskId)).toEqual([])
  })
})
