import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder, createWorkplace, openIn } from "../support/workplace.ts"

test("a runtime that only looks leaves what is queued to others", async () => {
  const directory = createFolder()
  const looking = await openIn(directory, { takesWork: false })
  const { id } = await looking.tasks.start({ tool: "run_command", input: { command: "echo done" } })
  const held = await looking.tasks.result(id, { waitMs: 100 })
  expect(held.task.status).toBe("queued")
  await openIn(directory)
  await eventually("the other has run it", async () => (await looking.tasks.get(id)).task.status === "completed")
})

test("a runtime that takes only its own work runs what is asked of it, and leaves what others have queued", async () => {
  const directory = createFolder()
  const looking = await openIn(directory, { takesWork: false })
  const command = (text: string) => ({ tool: "run_command", input: { command: text } })
  const { id: theirs } = await looking.tasks.start({ ...command("echo done"), priority: 9 })
  const own = await openIn(directory, { takesWork: "own", background: { maxConcurrentTasks: 1 } })
  const { id } = await own.tasks.start(command("exit 3"))
  expect((await own.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("failed")
  await own.tasks.retry(id)
  expect((await own.tasks.result(id, { waitMs: 30_000 })).task).toMatchObject({ status: "failed", run: 2 })
  expect((await looking.tasks.get(theirs)).task.status).toBe("queued")
})

test("a runtime takes only the kinds of work that it is asked to, and runs what is asked of it", async () => {
  const directory = createFolder()
  const looking = await openIn(directory, { takesWork: false })
  const command = (text: string) => ({ tool: "run_command", input: { command: text } })
  const { id } = await looking.tasks.start(command("echo done"))
  const agents = await openIn(directory, { takesKinds: ["agent", "turn"] })
  const answer = await agents.tasks.execute(command("echo asked")).answer
  expect(answer.outcome).toBe("completed")
  expect((await looking.tasks.result(id, { waitMs: 100 })).task.status).toBe("queued")
  await openIn(directory, { takesKinds: ["tool"] })
  expect((await looking.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
})

test("a runtime that only looks takes nothing over from a worker that was lost", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock: createManualClock() })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  const clock = createManualClock()
  const background = { leaseSeconds: 3 }
  const looking = await another({ clock, background, takesWork: false })
  for (let steps = 0; steps < 100; steps++) {
    clock.advance(100)
    expect((await looking.tasks.get(id)).task.status).toBe("running")
  }
  await another({ clock, background, tools: [] })
  await eventually("one that takes work has interrupted what it cannot run", async () => {
    clock.advance(100)
    return (await looking.tasks.get(id)).task.status === "interrupted"
  })
})
