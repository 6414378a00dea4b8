import { expect, test } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { CallDecision } from "../../src/plugin/tool-hooks.ts"
import type { PermissionDecision } from "../../src/plugin/permission-request.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace, type WorkplaceOptions } from "../support/workplace.ts"

const SECRET = "sk-test1234567890abcdefghij"

/** A task that has failed once. */
async function openWithFailed(name: string, options: WorkplaceOptions = {}) {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ ...options, tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: { name } })
  ;(await gated.call(1)).fail(new Error("not this time"))
  await meanwhile.tasks.result(id, { waitMs: 20_000 })
  return { gated, meanwhile, id }
}

test("a retry needs permission like any call, and permission sees the raw input", async () => {
  let decision: PermissionDecision = { allowed: true }
  const asked: unknown[] = []
  const permission = {
    decide: ({ input }: { input: unknown }) => {
      asked.push(input)
      return decision
    },
  }
  const { meanwhile, id } = await openWithFailed(SECRET, { permissions: permission })
  decision = { allowed: false, reason: "not any longer" }
  await expect(meanwhile.tasks.retry(id)).rejects.toMatchObject({ code: "permission_denied" })
  expect(asked).toEqual([{ name: SECRET }, { name: SECRET }])
  expect((await meanwhile.tasks.get(id)).task).toMatchObject({ status: "failed", run: 1 })
})

test("a retry that a person has to allow waits in the inbox, and runs after a yes", async () => {
  let decision: PermissionDecision = { allowed: true }
  const { gated, meanwhile, id } = await openWithFailed(SECRET, { permissions: { decide: () => decision } })
  decision = { allowed: "ask", question: { kind: "approval", text: "May it run?" }, expiresInMs: null }
  const asked = await meanwhile.tasks.retry(id)
  expect(asked).toMatchObject({ status: "waiting", run: 2, wait: { reason: "approval" } })
  if (asked.status !== "waiting") throw new Error("it should wait")
  expect(gated.calls).toHaveLength(1)
  await meanwhile.tasks.answer(asked.wait.id, true, "somebody")
  const { input, finish } = await gated.call(2)
  expect(input.name).toBe(SECRET)
  finish()
  expect((await meanwhile.tasks.result(id, { waitMs: 20_000 })).task).toMatchObject({ status: "completed", run: 2 })
})

test("a no to a retry ends that run", async () => {
  let decision: PermissionDecision = { allowed: true }
  const { meanwhile, id } = await openWithFailed("once", { permissions: { decide: () => decision } })
  decision = { allowed: "ask", question: { kind: "approval", text: "May it run?" }, expiresInMs: null }
  const asked = await meanwhile.tasks.retry(id)
  if (asked.status !== "waiting") throw new Error("it should wait")
  expect(await meanwhile.tasks.answer(asked.wait.id, false, "somebody")).toMatchObject({
    status: "cancelled",
    run: 2,
    stop: { reason: "it was not allowed" },
  })
})

test("a hook can refuse a retry, or change what runs", async () => {
  const { gated, meanwhile, id } = await openWithFailed("as it was")
  let decision: CallDecision = { decision: "refuse", reason: "not any longer" }
  await meanwhile.plugins.register(
    definePlugin({ kind: "tool", name: "hooks", tools: [], beforeToolCall: () => decision }),
  )
  await expect(meanwhile.tasks.retry(id)).rejects.toMatchObject({ code: "permission_denied" })
  decision = { decision: "change", input: { name: SECRET } }
  expect(await meanwhile.tasks.retry(id)).toMatchObject({ run: 2, input: { name: "[redacted]" } })
  expect((await gated.call(2)).input.name).toBe(SECRET)
})

test("an input that a hook changes may name another folder, which is then kept", async () => {
  const shell = { tool: "run_command", input: { command: "exit 1" } }
  const { directory, meanwhile } = await createWorkplace()
  const { id, folder } = await meanwhile.tasks.start(shell)
  expect(folder).toBe(directory)
  await meanwhile.tasks.result(id, { waitMs: 20_000 })
  const beforeToolCall = () => ({ decision: "change", input: { command: "exit 1", cwd: "/" } }) as const
  await meanwhile.plugins.register(definePlugin({ kind: "tool", name: "hooks", tools: [], beforeToolCall }))
  expect(await meanwhile.tasks.retry(id)).toMatchObject({ run: 2, input: { cwd: "/" }, folder: "/" })
  await meanwhile.tasks.result(id, { waitMs: 20_000 })
})

test("a retried agent counts among the live agents of its parent", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [agent.tool], background: { maxAgentFanOut: 1 } })
  const { tasks } = meanwhile
  const parent = await tasks.start({ tool: "agent", input: {} })
  const call = { tool: "agent", input: {}, parentTask: parent.id }
  const first = await tasks.start(call)
  ;(await agent.call(2)).fail(new Error("not this time"))
  await tasks.result(first.id, { waitMs: 20_000 })
  const second = await tasks.start(call)
  await expect(tasks.retry(first.id)).rejects.toMatchObject({ code: "limit_exceeded" })
  ;(await agent.call(3)).finish()
  await tasks.result(second.id, { waitMs: 20_000 })
  expect((await tasks.retry(first.id)).run).toBe(2)
})

test("a child is retried although the record of its parent is gone", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [agent.tool] })
  const { tasks, engine } = meanwhile
  const parent = await tasks.start({ tool: "agent", input: {} })
  const child = await tasks.start({ tool: "agent", input: {}, parentTask: parent.id })
  ;(await agent.call(1)).finish()
  ;(await agent.call(2)).fail(new Error("not this time"))
  for (const { id } of [parent, child]) await tasks.result(id, { waitMs: 20_000 })
  await engine.store.commit([{ op: "task.remove", taskId: parent.id }])
  expect((await tasks.retry(child.id)).run).toBe(2)
})

test("a runner that closes takes no retry", async () => {
  const { gated, meanwhile, id } = await openWithFailed("once")
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { finish } = await gated.call(2)
  const closing = meanwhile.close({ drainMs: 60_000 })
  await expect(meanwhile.tasks.retry(id)).rejects.toMatchObject({ code: "closed" })
  finish()
  await closing
})
