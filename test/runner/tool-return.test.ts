import { expect, test } from "vitest"
import { z } from "zod"
import { failWith, handBack, defineTool, type Tool } from "../../src/plugin/tool.ts"
import { echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("plain data is handed back as it is, whatever its keys are", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  for (const value of [{ patch: "diff --git a b" }, { failure: "none", payload: 3 }, { patch: { digest: 1 } }]) {
    const answer = await meanwhile.tasks.execute({ tool: "echo", input: { value } }).answer
    expect(answer).toMatchObject({ outcome: "completed", patch: { payload: value } })
  }
})

test("a tool says with helpers that it hands back parts, or that the outcome is a failure", async () => {
  const parts = { digest: ["two files"], facts: { files: 2 }, artifacts: [], nextSteps: ["review"], payload: [1, 2] }
  const tools = [
    toTool("changes", async () => handBack(parts)),
    toTool("tests", async () => failWith({ code: "tests_failed", message: "2 tests fail" }, { failing: 2 })),
    toTool("nothing", async () => failWith({ code: "empty", message: "Nothing is there." })),
  ]
  const { meanwhile } = await createWorkplace({ tools })
  const answerOf = (tool: string) => meanwhile.tasks.execute({ tool, input: {} }).answer
  expect(await answerOf("changes")).toEqual({ outcome: "completed", patch: parts })
  expect(await answerOf("tests")).toMatchObject({
    outcome: "failed",
    failure: { code: "tests_failed", message: "2 tests fail" },
    patch: { payload: { failing: 2 } },
  })
  expect(await answerOf("nothing")).toMatchObject({ outcome: "failed", patch: { payload: null } })
})

const toTool = (name: string, run: Tool["run"]) => defineTool({ name, description: name, input: z.object({}), run })

test("a tool returns what it likes: a promise or not, an interface of its own, nothing at all", async () => {
  interface Cake {
    readonly name: string
    readonly bakedAt: Date
    readonly note?: string | undefined
  }
  const cake: Cake = { name: "Gugelhupf", bakedAt: new Date(0), note: undefined }
  class Oven {
    readonly degrees = 180
    readonly heat = 1
  }
  const tools = [
    toTool("at_once", () => cake),
    toTool("later", async () => cake),
    toTool("nothing", () => {}),
    toTool("nothing_later", async () => {}),
    toTool("instance", () => new Oven()),
    toTool("throws", () => {
      throw new Error("the oven is cold")
    }),
  ]
  const { meanwhile } = await createWorkplace({ tools })
  const answerOf = (tool: string) => meanwhile.tasks.execute({ tool, input: {} }).answer
  const baked = { name: "Gugelhupf", bakedAt: "1970-01-01T00:00:00.000Z" }
  expect(await answerOf("at_once")).toMatchObject({ outcome: "completed", patch: { payload: baked } })
  expect(await answerOf("later")).toMatchObject({ outcome: "completed", patch: { payload: baked } })
  expect(await answerOf("nothing")).toMatchObject({ outcome: "completed", patch: { payload: null, digest: [] } })
  expect(await answerOf("nothing_later")).toMatchObject({ outcome: "completed", patch: { payload: null } })
  expect(await answerOf("instance")).toMatchObject({ outcome: "completed", patch: { payload: { degrees: 180 } } })
  expect(await answerOf("throws")).toMatchObject({ outcome: "failed", failure: { message: "the oven is cold" } })
})

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

test.each<[string, unknown, string]>([
  ["a big integer", { rows: [1, 2n] }, "result.rows[1] is a bigint"],
  ["a Map", { byName: new Map([["a", 1]]) }, "result.byName is of class Map"],
  ["an error", [new Error("no")], "result[0] is of class Error"],
  ["an error with a code", [Object.assign(new Error("no"), { code: "EIO" })], "result[0] is of class Error"],
  ["a promise that was forgotten", { text: Promise.resolve("x") }, "result.text is of class Promise"],
  ["a function", { next: { go: () => 1 } }, "result.next.go is a function"],
  ["a symbol", Symbol("s"), "result is a symbol"],
  ["itself within itself", cyclic, "circular"],
])("a tool that returns %s fails, and says where that is", async (_, value, where) => {
  const { meanwhile } = await createWorkplace({ tools: [toTool("odd", () => value)] })
  const answer = await meanwhile.tasks.execute({ tool: "odd", input: {} }).answer
  const message = expect.stringMatching(
    /^It returned what cannot be written as JSON: .+\. Return plain data instead\.$/,
  )
  expect(answer).toMatchObject({ outcome: "failed", failure: { code: "tool_error", message }, patch: null })
  expect(JSON.stringify(answer)).toContain(where)
})
