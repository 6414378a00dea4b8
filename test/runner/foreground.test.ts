import { expect, test, vi } from "vitest"
import { z } from "zod"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { Answer } from "../../src/plugin/task-service.ts"
import type { PendingCall } from "../../src/plugin/tool-hooks.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { eventually } from "../support/eventually.ts"
import { contentsOf } from "../support/contents.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a failure in the foreground is an answer and leaves nothing behind", async () => {
  const gated = createGatedTool()
  const { meanwhile, directory } = await createWorkplace({ tools: [gated.tool] })
  const before = await contentsOf(directory)
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  ;(await gated.call(1)).fail(new Error("it broke"))
  expect(await execution.answer).toMatchObject({ outcome: "failed", failure: { message: "it broke" } })
  expect(await contentsOf(directory)).toEqual(before)
})

test("a tool that says never is not promoted, one that says always has a task from the start", async () => {
  const never = createGatedTool({ name: "never", background: { mode: "never" } })
  const always = createGatedTool({ name: "always", background: { mode: "always" }, obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [never.tool, always.tool] })
  const foreground = meanwhile.tasks.execute({ tool: "never", input: {} })
  await never.call(1)
  expect(await foreground.promote()).toBe(false)
  ;(await never.call(1)).finish("here")
  expect(await foreground.answer).toMatchObject({ outcome: "completed", patch: { payload: "here" } })

  const keyed = meanwhile.tasks.execute({ tool: "never", input: {}, idempotencyKey: "k" })
  await never.call(2)
  expect(await keyed.promote()).toBe(false)
  ;(await never.call(2)).finish("there")
  expect(await keyed.answer).toMatchObject({ outcome: "completed", patch: { payload: "there" } })

  const background = meanwhile.tasks.execute({ tool: "always", input: {} })
  expect(await background.answer).toMatchObject({ outcome: "promoted", task: { id: background.taskId } })
})

test("a tool that says on_request stays in the foreground until somebody moves it, and can be started", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ background: { mode: "on_request" }, timeoutMs: 5_000_000, obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  const call = await gated.call(1)
  clock.advance(4_000_000)
  expect(await meanwhile.tasks.list({})).toMatchObject({ items: [] })
  expect(await execution.promote()).toBe(true)
  call.finish("there")
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await gated.call(2)
  expect(await meanwhile.tasks.get(id)).toMatchObject({ task: { status: "running" } })
})

test("everything that was printed comes before the answer, whatever the listener does with it", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const seen: string[] = []
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} }, { onOutput: (text) => seen.push(text) })
  const call = await gated.call(1)
  const text = "a line\n".repeat(20_000)
  call.context.output.write(text)
  call.context.output.write("ends like a secret: token=")
  call.finish()
  await execution.answer
  expect(seen.join("")).toBe(`${text}ends like a secret: token=`)

  const throwing = meanwhile.tasks.execute(
    { tool: "gated", input: {} },
    {
      onOutput: () => {
        throw new Error("nobody listens")
      },
    },
  )
  const second = await gated.call(2)
  second.context.output.write("a line\n")
  expect(await throwing.promote()).toBe(true)
  expect((await throwing.answer).outcome).toBe("promoted")
  second.finish("whole")
  const { task } = await meanwhile.tasks.result(throwing.taskId, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: "whole" } })
})

test("a listener hears what a call prints at once, and nobody looks for what it prints after its answer", async () => {
  const clock = createManualClock()
  let printLater: (text: string) => void = () => undefined
  const hasty = defineTool({
    name: "hasty",
    description: "Prints before anybody can listen.",
    input: z.object({ text: z.string() }),
    run: async ({ text }, { output }) => {
      printLater = (late) => output.write(late)
      if (text !== "") output.write(text)
      return null
    },
  })
  const { meanwhile } = await createWorkplace({ tools: [hasty], clock })
  async function listen(text: string): Promise<string[]> {
    const seen: string[] = []
    const options = { onOutput: (printed: string) => void seen.push(printed) }
    await meanwhile.tasks.execute({ tool: "hasty", input: { text } }, options).answer
    return seen
  }
  expect(await listen("at once")).toEqual(["at once"])
  expect(await listen("")).toEqual([])
  const looks = vi.spyOn(clock, "schedule")
  printLater("a late line\n")
  expect(looks).not.toHaveBeenCalled()
})

test("a promotion that cannot be stored leaves the call in the foreground, with all it has used", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { store } = meanwhile.engine
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  const call = await gated.call(1)
  call.context.spend({ tokens: 7 })
  const commit = store.commit
  Object.assign(store, { commit: () => Promise.reject(new Error("the disk is gone")) })
  expect(await execution.promote()).toBe(false)
  Object.assign(store, { commit })
  expect((await meanwhile.tasks.list({})).items).toEqual([])
  expect(await execution.promote()).toBe(true)
  expect(await execution.answer).toMatchObject({ outcome: "promoted", task: { usage: { tokens: 7 } } })
  call.finish()
  await meanwhile.tasks.result(execution.taskId, { waitMs: 20_000 })
})

test("hooks may refuse and change a call, and hear of its answer", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const heard: [PendingCall, Answer][] = []
  await meanwhile.plugins.register(
    definePlugin({
      kind: "tool",
      name: "watcher",
      tools: [],
      beforeToolCall: ({ input }) => {
        const { value } = input as { value: unknown }
        if (value === "forbidden") return { decision: "refuse", reason: "it is forbidden" }
        if (value === "crash") throw new Error("the hook broke")
        return value === "wrong"
          ? { decision: "change", input: { value: "right" } }
          : value === "invalid"
            ? { decision: "change", input: 7 }
            : { decision: "allow" }
      },
      afterToolCall: (call, answer) => {
        heard.push([call, answer])
        throw new Error("it changes nothing")
      },
    }),
  )
  const { tasks } = meanwhile
  const ask = (value: string) => ({ tool: "echo", input: { value } })
  expect(await tasks.execute(ask("wrong")).answer).toMatchObject({ patch: { payload: "right" } })
  await eventually("the hook has heard", () => heard.length > 0)
  expect(heard).toMatchObject([[{ input: { value: "right" } }, { outcome: "completed" }]])
  for (const [value, code] of [
    ["forbidden", "permission_denied"],
    ["crash", "permission_denied"],
    ["invalid", "invalid_input"],
  ] as const) {
    await expect(tasks.execute(ask(value)).answer).rejects.toMatchObject({ code })
    await expect(tasks.start(ask(value))).rejects.toMatchObject({ code })
  }
  const started = await tasks.start(ask("wrong"))
  expect((await tasks.result(started.id, { waitMs: 20_000 })).task).toMatchObject({ patch: { payload: "right" } })
  expect((await tasks.list({})).items).toHaveLength(1)
})

test("permission is asked for every call, and what cannot be asked is not allowed", async () => {
  const asked: unknown[] = []
  const { meanwhile, directory } = await createWorkplace({
    tools: [echo],
    permissions: {
      decide({ tool, input }) {
        asked.push([tool, input])
        const { value } = input as { value: unknown }
        if (value === "throws") throw new Error("no line")
        if (value === "rejects") return Promise.reject(new Error("no line"))
        return value === "no" ? Promise.resolve({ allowed: false, reason: "said no" }) : { allowed: true }
      },
    },
  })
  const before = await contentsOf(directory)
  for (const value of ["no", "throws", "rejects"]) {
    const call = { tool: "echo", input: { value } }
    await expect(meanwhile.tasks.execute(call).answer).rejects.toMatchObject({ code: "permission_denied" })
    await expect(meanwhile.tasks.start(call)).rejects.toMatchObject({ code: "permission_denied" })
    await expect(meanwhile.tasks.adopt(call, Promise.resolve())).rejects.toMatchObject({ code: "permission_denied" })
  }
  expect(await contentsOf(directory)).toEqual(before)
  expect(await meanwhile.tasks.execute({ tool: "echo", input: { value: "yes" } }).answer).toMatchObject({
    outcome: "completed",
  })
  expect(asked).toHaveLength(10)
})
