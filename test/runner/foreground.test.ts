import { expect, test, vi } from "vitest"
import { z } from "zod"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { contentsOf } from "../support/contents.ts"
import { createGatedTool } from "../support/tools.ts"
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
