import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { createHoldingTools, effectsIn } from "../support/holding-tools.ts"
import { processesOf } from "../support/processes.ts"
import { createFolder, openIn } from "../support/workplace.ts"

const LEASE_MS = 500
const background = { leaseSeconds: LEASE_MS / 1_000 }
const COUNTING = "i=0; while [ ! -e go ]; do i=$((i+1)); echo $i; sleep 0.02; done; echo end; exit 3"

/** Being stopped for longer than the lease is what these tests are about, so here time really has to pass. */
const outlastTheLease = () => pause(LEASE_MS * 3)

describe("A11. A laptop that slept, or a clock that jumped, does not fail or lose tasks", () => {
  const calls = [
    { tool: "run_command", input: { command: COUNTING } },
    { tool: "hold", input: { name: "held", until: "go" } },
    { tool: "hold", input: { name: "later" }, delayMs: LEASE_MS },
  ]

  test("SIGSTOP for longer than the lease, of the only process: everything goes on where it was", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory, background)
    const [command = "", held = "", later = ""] = await worker.start(calls)
    await eventually("it has begun", () => effectsIn(directory).length > 0 && processesOf(command).length > 0)
    await worker.suspend()
    await outlastTheLease()
    worker.continue()
    await eventually("what was put off has begun", () =>
      effectsIn(directory).some(({ what }) => what === "acted later"),
    )
    writeFileSync(join(directory, "go"), "")
    await worker.close({ drainMs: 20_000 })
    const { tasks } = await openIn(directory)
    expect((await tasks.get(command)).task).toMatchObject({
      status: "failed",
      run: 1,
      fence: 1,
      patch: { payload: { exitCode: 3 } },
    })
    expect((await tasks.output(command)).text).toMatch(/^1\n2\n[\d\n]*\nend\n$/)
    expect((await tasks.get(held)).task).toMatchObject({ status: "completed", run: 1, fence: 1 })
    expect((await tasks.get(later)).task).toMatchObject({ status: "completed", run: 1 })
    expect(effectsIn(directory).filter(({ what }) => what === "acted held")).toHaveLength(1)
  })

  test("SIGSTOP for longer than the lease, of two processes at once: neither loses its tasks to the other", async () => {
    const directory = createFolder()
    const [first, second] = await Promise.all([
      startChildWorker(directory, background),
      startChildWorker(directory, background),
    ])
    const [held = ""] = await first.start([{ tool: "hold", input: { name: "one", until: "go" } }])
    const [other = ""] = await second.start([{ tool: "hold", input: { name: "two", until: "go" } }])
    await eventually("both have begun", () => effectsIn(directory).length === 2)
    await Promise.all([first.suspend(), second.suspend()])
    await outlastTheLease()
    second.continue()
    first.continue()
    writeFileSync(join(directory, "go"), "")
    const { tasks } = await openIn(directory, { tools: createHoldingTools(directory) })
    for (const id of [held, other]) {
      expect((await tasks.result(id, { waitMs: 20_000 })).task).toMatchObject({ status: "completed", run: 1, fence: 1 })
    }
    expect(effectsIn(directory)).toHaveLength(4)
  })

  test("SIGSTOP for longer than the lease, of one of two: the other takes over, nothing is lost, and the stopped one leaves it alone when it goes on", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory, background)
    const [command = "", retried = ""] = await worker.start([
      { tool: "run_command", input: { command: COUNTING } },
      { tool: "hold_retry", input: { name: "retried", until: "go" } },
    ])
    await eventually("both have begun", () => effectsIn(directory).length > 0 && processesOf(command).length > 0)
    await worker.suspend()
    const { tasks } = await openIn(directory, { background, tools: createHoldingTools(directory) })
    await eventually("the other has taken over", () =>
      effectsIn(directory).some(({ pid, what }) => pid === process.pid && what === "began retried"),
    )
    await eventually("and the process too", async () => (await tasks.get(command)).task.fence > 1)
    worker.continue()
    await eventually("the first one is awake", () => !worker.isSuspended())
    await outlastTheLease()
    expect(processesOf(command).length).toBeGreaterThan(0)
    writeFileSync(join(directory, "go"), "")
    const ended = await tasks.result(command, { waitMs: 20_000 })
    expect(ended.task).toMatchObject({ status: "failed", run: 1, patch: { payload: { exitCode: 3 } } })
    expect((await tasks.output(command)).text).toMatch(/^1\n2\n[\d\n]*\nend\n$/)
    expect((await tasks.result(retried, { waitMs: 20_000 })).task).toMatchObject({ status: "completed", run: 1 })
    expect(effectsIn(directory).filter(({ what }) => what === "acted retried")).toHaveLength(1)
  })
})
