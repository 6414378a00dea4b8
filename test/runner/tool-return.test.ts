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
  const toTool = (name: string, run: Tool["run"]) => defineTool({ name, description: name, input: z.object({}), run })
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
