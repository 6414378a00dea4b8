import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { ToolCall } from "../../src/plugin/task-service.ts"
import { contentsOf } from "../support/contents.ts"
import { testOfFile } from "../support/test-engine.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

testOfFile("a damaged store is refused when it is opened, and left as it is", async () => {
  const { meanwhile, directory, another } = await createWorkplace({ tools: [echo] })
  await meanwhile.tasks.start({ tool: "echo", input: {} })
  await meanwhile.close()
  const path = join(directory, "data", "store.sqlite")
  const damaged = Buffer.from("this is no database ".repeat(500))
  writeFileSync(path, damaged)
  await expect(another()).rejects.toMatchObject({
    name: "MeanwhileError",
    code: "store_damaged",
    message: expect.stringMatching(/store\.sqlite.*use another data folder/),
  })
  expect(readFileSync(path).equals(damaged)).toBe(true)
})

testOfFile("a data folder that is a file is refused", async () => {
  const { directory, meanwhile, another } = await createWorkplace()
  await meanwhile.close()
  rmSync(join(directory, "data"), { recursive: true })
  writeFileSync(join(directory, "data"), "not a folder")
  await expect(another()).rejects.toMatchObject({ name: "MeanwhileError", code: "store_unavailable" })
  expect(readFileSync(join(directory, "data"), "utf8")).toBe("not a folder")
})

test("a spool folder that cannot be made fails the calls that need it and nothing else", async () => {
  const { directory, meanwhile, another } = await createWorkplace({ tools: [echo] })
  await meanwhile.close()
  mkdirSync(join(directory, "data"), { recursive: true })
  writeFileSync(join(directory, "data", "spool"), "not a folder")
  const second = await another()
  const { id } = await second.tasks.start({ tool: "echo", input: { value: 1 } })
  // A call that prints nothing needs no folder. A call that needs one is told why it fails.
  expect((await second.tasks.result(id, { waitMs: 20_000 })).task.status).toBe("completed")
  const failed = await second.tasks.execute({ tool: "run_command", input: { command: "echo hello" } }).answer
  expect(failed).toMatchObject({ outcome: "failed", failure: { code: "store_unavailable" } })
})

test("a closed runner refuses every call and writes nothing", async () => {
  const gated = createGatedTool()
  const { meanwhile, directory } = await createWorkplace({ tools: [echo, gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "echo", input: {} })
  await meanwhile.tasks.result(id, { waitMs: 20_000 })
  await meanwhile.close()
  mkdirSync(join(directory, "untouched"))
  const before = await contentsOf(directory)
  const call: ToolCall = { tool: "echo", input: {} }
  const closed = { name: "MeanwhileError", code: "closed" }
  const { tasks } = meanwhile
  await expect(tasks.execute(call).answer).rejects.toMatchObject(closed)
  await expect(tasks.start(call)).rejects.toMatchObject(closed)
  await expect(tasks.adopt(call, Promise.resolve())).rejects.toMatchObject(closed)
  await expect(tasks.get(id)).rejects.toMatchObject(closed)
  await expect(tasks.result(id, { waitMs: 10 })).rejects.toMatchObject(closed)
  await expect(tasks.cancel(id)).rejects.toMatchObject(closed)
  await expect(tasks.retry(id)).rejects.toMatchObject(closed)
  await expect(tasks.list({})).rejects.toMatchObject(closed)
  await expect(tasks.clear({})).rejects.toMatchObject(closed)
  await expect(tasks.acknowledge([id])).rejects.toMatchObject(closed)
  await expect(tasks.output(id)).rejects.toMatchObject(closed)
  expect(await contentsOf(directory)).toEqual(before)
})
