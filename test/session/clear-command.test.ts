import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import type { Runtime } from "../../src/app.ts"
import { clearCommand } from "../../src/cli/command/clear-command.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { SessionId, TaskId } from "../../src/task/id.ts"
import { echo } from "../support/tools.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { showCommand } from "../support/show-command.ts"
import { lastSaid, openAgent } from "../support/session/open-agent.ts"

/** Runs the command in another program on the same store, and returns what it says. */
const clear = (meanwhile: Runtime): Promise<string> => showCommand(clearCommand, "", meanwhile)

async function openBeside(folder: string): Promise<Runtime> {
  const runtime = await openTestRuntime({ environment: {}, dataDirectory: join(folder, "data"), takesWork: false })
  onTestFinished(() => runtime.close())
  return runtime
}

async function startEcho({ tasks }: Runtime, session: SessionId | null): Promise<TaskId> {
  const { id } = await tasks.start({ tool: "echo", input: { value: "bread" }, session })
  await tasks.result(id, { waitMs: 20_000 })
  return id
}

const KEPT_ONE = "1 was kept: its conversation has not used the result yet.\n"

test("a result that its conversation is still to be told is not cleared away by another program", async () => {
  const { runtime, session, model, folder } = await openAgent(["Well."], { isKept: true, tools: [echo] })
  const beside = await openBeside(folder)
  const id = await startEcho(runtime, session.id)
  await startEcho(runtime, null)
  expect(await clear(beside)).toBe(`1 ended task removed.\n${KEPT_ONE}`)
  await session.send("what now?")
  expect(lastSaid(model, -1)).toContain(`Task ${id} ("echo"): completed.\n| bread`)
  expect(await clear(beside)).toBe("1 ended task removed.\n")
  await expect(runtime.tasks.get(id)).rejects.toMatchObject({ code: "not_found" })
})

test("a result that a turn has read, and has not kept yet, is not cleared away either", async () => {
  const told: string[] = []
  const bake = defineTool({
    name: "bake",
    description: "Bakes.",
    input: z.object({}),
    async run(_, { tasks, session }) {
      const { id } = await tasks.start({ tool: "echo", input: { value: "bread" }, session })
      await tasks.result(id, { waitMs: 20_000, consume: true })
      told.push(await clear(beside))
      return "baked"
    },
  })
  const script = [{ calls: [{ tool: "bake", input: {} }] }, "It is bread."]
  const { session, folder } = await openAgent(script, { isKept: true, tools: [echo, bake] })
  const beside = await openBeside(folder)
  await session.send("bake")
  expect(told).toEqual([`0 ended tasks removed.\n${KEPT_ONE}`])
  expect(await clear(beside)).toBe("1 ended task removed.\n")
})

test("what several conversations have not used is counted, until they are deleted", async () => {
  const { runtime, session, folder } = await openAgent(["Well.", "Well."], { isKept: true, tools: [echo] })
  const beside = await openBeside(folder)
  const other = await runtime.createSession()
  for (const one of [session, other]) {
    await one.send("hello")
    await startEcho(runtime, one.id)
  }
  const said = "0 ended tasks removed.\n2 were kept: their conversations have not used the results yet.\n"
  expect(await clear(beside)).toBe(said)
  await other.close()
  await runtime.sessions.delete(other.id)
  expect(await clear(beside)).toBe(`0 ended tasks removed.\n${KEPT_ONE}`)
})
