import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { ToolCall } from "../../src/plugin/task-service.ts"
import { defineTool, type Tool, failWith, handBack } from "../../src/plugin/tool.ts"
import { createTaskId, createWaitId } from "../../src/task/id.ts"
import { contentsOf } from "../support/contents.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { readBytes } from "../support/stored.ts"
import { createWorkplace } from "../support/workplace.ts"

const SECRET = "sk-test1234567890abcdefghij"

const toTool = (run: Tool["run"]): Tool =>
  defineTool({ name: "leaky", description: "Leaks.", input: z.object({}), background: { mode: "after" }, run })

test("a patch is redacted by the names of its facts, and in the names of its artifacts", async () => {
  const leaky = toTool(async (_, { artifacts }) => {
    const artifact = await artifacts.put(`of ${SECRET}`, "text/plain", new Uint8Array([1]))
    const facts = { password: "correct horse", sort_key: "name", deep: { client_secret: "battery staple" } }
    const kept = [artifact, { ...artifact, name: SECRET }]
    return handBack({ digest: [], facts, artifacts: kept, nextSteps: [], payload: 1 })
  })
  const { meanwhile, directory } = await createWorkplace({ tools: [leaky] })
  const { id } = await meanwhile.tasks.start({ tool: "leaky", input: {} })
  const { task } = await meanwhile.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({
    status: "completed",
    patch: {
      facts: { password: "[redacted]", sort_key: "name", deep: { client_secret: "[redacted]" } },
      artifacts: [{ name: "of [redacted]" }, { name: "[redacted]" }],
    },
  })
  const bytes = await readBytes(join(directory, "data"))
  for (const hidden of [SECRET, "correct horse", "battery staple"]) expect(bytes).not.toContain(hidden)
})

test("a title that the tool cuts short shows no part of a secret", async () => {
  const { meanwhile, directory } = await createWorkplace()
  const input = { command: `${"true; ".repeat(11)}: ${SECRET}` }
  const { id } = await meanwhile.tasks.start({ tool: "run_command", input })
  const { task } = await meanwhile.tasks.result(id, { waitMs: 20_000 })
  expect(task.title).toBe(`${"true; ".repeat(11)}: [redacted]`)
  expect(await readBytes(join(directory, "data"))).not.toContain(SECRET.slice(0, 8))
})

test("the code of a failure is redacted like its message", async () => {
  const leaky = toTool(async () => failWith({ code: `no_${SECRET}`, message: SECRET }))
  const { meanwhile, directory } = await createWorkplace({ tools: [leaky] })
  const { id } = await meanwhile.tasks.start({ tool: "leaky", input: {} })
  const { task } = await meanwhile.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ failure: { code: "no_[redacted]", message: "[redacted]" } })
  expect(await readBytes(join(directory, "data"))).not.toContain(SECRET)
})

test("the command line of what outlived a stop is redacted in the record, the event and the answer", async () => {
  let left = Promise.withResolvers<void>()
  const leaving = toTool(async (_, { processes, signal }) => {
    const env = { PATH: process.env["PATH"] ?? "", MEANWHILE_TEST: directory }
    await processes.run({ argv: ["sh", "-c", `setsid sh -c 'sleep 61; :' ${SECRET} & sleep 0.1`], cwd: directory, env })
    left.resolve()
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))))
  })
  const { meanwhile, directory } = await createWorkplace({ tools: [leaving] })
  const { tasks, engine } = meanwhile
  const survivors = expect.arrayContaining([{ pid: expect.any(Number), command: "sh -c sleep 61; : [redacted]" }])
  const execution = tasks.execute({ tool: "leaky", input: {} })
  await left.promise
  execution.cancel()
  expect(await execution.answer).toMatchObject({ outcome: "cancelled", survivors })
  left = Promise.withResolvers()
  const { id } = await tasks.start({ tool: "leaky", input: {} })
  await left.promise
  await tasks.cancel(id)
  const { task } = await tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "cancelled", survivors })
  expect(JSON.stringify(await engine.store.events(id, 0, 100))).not.toContain(SECRET)
  expect(await readBytes(join(directory, "data"))).not.toContain(SECRET)
})

describe("a name by which something is found is refused when it holds a secret, and nothing is written", () => {
  const names = ["idempotencyKey", "batch", "model", "traceId", "parentMessage", "workspace", "session", "group"]
  test.each([...names, "askedBy"])("%s", async (field) => {
    const { meanwhile, directory } = await createWorkplace({ tools: [echo] })
    const before = await contentsOf(directory)
    const value = field === "askedBy" ? { taskId: createTaskId(), run: 1, key: SECRET } : `of ${SECRET}`
    const call = { tool: "echo", input: {}, [field]: value } as unknown as ToolCall
    const refusal = expect.objectContaining({
      code: "invalid_input",
      message: expect.stringMatching(new RegExp(`^(?!.*sk-).*${field}.* holds a secret`)),
    })
    await expect(meanwhile.tasks.start(call)).rejects.toEqual(refusal)
    await expect(meanwhile.tasks.execute(call).answer).rejects.toEqual(refusal)
    await expect(meanwhile.tasks.adopt(call, Promise.resolve())).rejects.toEqual(refusal)
    expect(await contentsOf(directory)).toEqual(before)
  })

  test("the key of a step", async () => {
    const gated = createGatedTool({ obeys: true })
    const { meanwhile, directory } = await createWorkplace({ tools: [gated.tool] })
    await meanwhile.tasks.start({ tool: "gated", input: {} })
    const { context } = await gated.call(1)
    const refused = expect(context.step(`with ${SECRET}`, async () => expect.unreachable())).rejects
    await refused.toMatchObject({ code: "invalid_input", message: expect.stringContaining("key of the step") })
    expect(await readBytes(join(directory, "data"))).not.toContain(SECRET)
  })
})

test("an answer is refused when it, or the name of who gives it, holds a secret; the run still waits", async () => {
  const { meanwhile, directory } = await createWorkplace({ tools: [echo] })
  const { tasks, engine } = meanwhile
  const later = await tasks.start({ tool: "echo", input: {}, delayMs: 1e9 })
  const details = { ...later, id: createTaskId() }
  const wait = { id: createWaitId(), reason: "person", question: "Which?", expiresAt: null, onExpiry: null } as const
  await engine.store.commit([{ op: "task.create", details, entry: { as: "waiting", wait } }])
  const refused = { code: "invalid_input", message: expect.stringContaining("secret, which is never stored") }
  await expect(tasks.answer(wait.id, { use: SECRET }, "me")).rejects.toMatchObject(refused)
  await expect(tasks.answer(wait.id, "the second", SECRET)).rejects.toMatchObject(refused)
  expect((await tasks.get(details.id)).task.status).toBe("waiting")
  expect(await readBytes(join(directory, "data"))).not.toContain(SECRET)
  expect((await tasks.answer(wait.id, "the second", "me")).status).toBe("queued")
})
