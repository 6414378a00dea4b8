import { expect, test } from "vitest"
import type { Tool } from "../../src/plugin/tool.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

function fail(): never {
  throw new Error("broken")
}

// A tool in JavaScript may return anything.
const toTitle = (title: unknown) => (() => title) as NonNullable<Tool["title"]>

test.each<[string, Pick<Tool, "title" | "pin">]>([
  ["a title that throws", { title: fail }],
  ["a title that is no text", { title: toTitle(5) }],
  ["a title that never comes", { title: toTitle(new Promise(() => undefined)) }],
  ["a pin that throws", { pin: fail }],
])("a call with %s is started, and promoted, under the tool's name", async (_, broken) => {
  const gated = createGatedTool({ obeys: true, ...broken })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { tasks } = meanwhile
  const asked = { tool: "gated", input: { name: "a" } }
  expect(await tasks.start(asked)).toMatchObject({ title: "gated", input: { name: "a" } })
  const execution = tasks.execute(asked)
  await gated.call(2)
  await execution.promote()
  expect(await execution.answer).toMatchObject({ outcome: "promoted", task: { title: "gated", input: { name: "a" } } })
})

test.each<[string, NonNullable<Tool["estimateMs"]>]>([
  ["throws", fail],
  ["rejects", async () => fail()],
  ["never resolves", () => new Promise(() => undefined)],
  ["is no number", () => Number.NaN],
  ["is negative", () => -5],
])("a task whose estimate %s is shown without one", async (_, estimateMs) => {
  const gated = createGatedTool({ obeys: true, estimateMs })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { tasks } = meanwhile
  const { id } = await tasks.start({ tool: "gated", input: {} })
  expect(await tasks.get(id)).toMatchObject({ task: { id }, estimate: null })
  expect(await tasks.estimate({ tool: "gated", input: {} })).toBeNull()
})
