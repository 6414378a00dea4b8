import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool, failWith, handBack, type Tool, type ToolReturn } from "../../src/plugin/tool.ts"
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

const BARE = {
  name: "bare",
  description: "Ends at once.",
  input: z.object({}),
  background: { mode: "always" },
} as const
const PATCH = { digest: [], facts: {}, artifacts: [], nextSteps: [], payload: null }
const NO_MESSAGE = { code: "tool_error", message: "The tool failed, and failWith was given no message." }
const NO_PATCH = { code: "invalid_input", message: expect.stringContaining("handBack takes a patch") }

// A plugin in JavaScript may hand over anything.
const asGiven = (value: unknown) => value as never

test.each<[string, () => unknown, { readonly code: string; readonly message: unknown }]>([
  ["failWith without a failure", () => failWith(asGiven(undefined)), NO_MESSAGE],
  ["failWith of an empty object", () => failWith(asGiven({})), NO_MESSAGE],
  [
    "failWith of an error",
    () => failWith(asGiven(new Error("disk broke"))),
    { code: "tool_error", message: "disk broke" },
  ],
  ["handBack without a patch", () => handBack(asGiven(undefined)), NO_PATCH],
  ["handBack without lists", () => handBack(asGiven({ payload: 1 })), NO_PATCH],
  ["handBack with a list of numbers", () => handBack({ ...PATCH, digest: asGiven([5]) }), NO_PATCH],
])("a tool that ends by %s fails with a code and a sentence", async (_, end, failure) => {
  const tool = defineTool({ ...BARE, run: async () => end() as ToolReturn })
  const { meanwhile } = await createWorkplace({ tools: [tool] })
  const { id } = await meanwhile.tasks.start({ tool: "bare", input: {} })
  const { task } = await meanwhile.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "failed", failure })
})

test("progress that is no text and no number is not shown, and a long line is cut", async () => {
  const odd = { done: "3", total: Number.NaN, phase: 5, line: {} }
  const tool = defineTool({
    ...BARE,
    async run(_input, { progress }) {
      progress(asGiven(odd))
      progress({ phase: "x".repeat(1_000_000) })
      return 1
    },
  })
  const { meanwhile } = await createWorkplace({ tools: [tool] })
  const { id } = await meanwhile.tasks.start({ tool: "bare", input: {} })
  const { task } = await meanwhile.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "completed", progress: { done: null, total: null, line: null } })
  expect(task.progress?.phase).toHaveLength(1_000)
})
