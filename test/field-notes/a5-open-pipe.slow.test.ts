import { describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { isAlive, processesOf } from "../support/processes.ts"
import { createWorkplace } from "../support/workplace.ts"

interface CommandResult {
  readonly exitCode: number
  readonly output: string
  readonly survivors: readonly { readonly pid: number; readonly command: string }[]
}

/** Shell text that waits until the process started last has a session of its own. */
const HAS_GONE = 'until [ "$(ps -o sid= -p $!)" -eq $! ]; do :; done'

describe("A5. A grandchild that keeps stdout open does not keep the task open", () => {
  test("when it belongs to the command it ends with the command", async () => {
    const { meanwhile } = await createWorkplace()
    const { tasks } = meanwhile
    const { id } = await tasks.start({ tool: "run_command", input: { command: "sleep 300 & echo done" } })
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "completed", patch: { payload: { exitCode: 0, output: "done\n" } } })
    await eventually("it is gone", () => processesOf(id).length === 0)
  })

  test("when it went its own way it lives on, is named, and what it prints later can be read", async () => {
    const { meanwhile } = await createWorkplace()
    const { tasks } = meanwhile
    const later = "while [ ! -e go ]; do sleep 0.02; done; echo printed later; exec sleep 300"
    const { id } = await tasks.start({
      tool: "run_command",
      input: { command: `setsid sh -c '${later}' & ${HAS_GONE}; echo done` },
    })
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task.status).toBe("completed")
    const result = (task.status === "completed" ? task.patch.payload : null) as unknown as CommandResult
    expect(result).toMatchObject({ exitCode: 0, output: "done\n" })
    const pid = result.survivors[0]?.pid ?? 0
    expect(isAlive(pid)).toBe(true)
    await tasks.result((await tasks.start({ tool: "run_command", input: { command: "touch go" } })).id, {
      waitMs: 20_000,
    })
    await eventually("it printed", async () => (await tasks.output(id)).text === "done\nprinted later\n")
    expect((await tasks.get(id)).task.status).toBe("completed")
  })

  test("in the foreground the answer comes at once", async () => {
    const { meanwhile } = await createWorkplace()
    const command = `(sleep 300 &) ; setsid sleep 300 & ${HAS_GONE}; echo done`
    const execution = meanwhile.tasks.execute({ tool: "run_command", input: { command } })
    const answer = await execution.answer
    expect(answer).toMatchObject({ outcome: "completed", patch: { payload: { exitCode: 0, output: "done\n" } } })
  })
})
