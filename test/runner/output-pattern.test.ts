import { expect, test } from "vitest"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

async function openWithOutput() {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  context.output.write("one (1)\ntwo (2)\n")
  return { tasks: meanwhile.tasks, id }
}

test("a pattern or filter given as text is looked for as it stands", async () => {
  const { tasks, id } = await openWithOutput()
  expect(await tasks.waitForOutput(id, { pattern: "o (2", timeoutMs: 30_000 })).toMatchObject({
    outcome: "matched",
    line: "two (2)",
  })
  expect((await tasks.output(id, { filter: "(1)" })).text).toBe("one (1)\n")
})

test("a pattern or filter that is neither is refused and says what it must be", async () => {
  const { tasks, id } = await openWithOutput()
  for (const pattern of ["", 7 as unknown as string]) {
    const refusal = { code: "invalid_input", message: expect.stringContaining("a regular expression or a text") }
    await expect(tasks.waitForOutput(id, { pattern, timeoutMs: 30_000 })).rejects.toMatchObject(refusal)
    await expect(tasks.output(id, { filter: pattern })).rejects.toMatchObject(refusal)
  }
})
