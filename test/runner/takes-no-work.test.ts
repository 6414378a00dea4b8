import { expect, test } from "vitest"
import { createFolder, openIn } from "../support/workplace.ts"
import { eventually } from "../support/eventually.ts"

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
