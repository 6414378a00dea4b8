import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import { silentLog } from "../../src/runner/redaction/redacting-log.ts"
import { createWorkplace } from "../support/workplace.ts"

const print = defineTool({
  name: "print",
  description: "Prints.",
  background: { mode: "always" },
  input: z.object({}),
  async run(_input, { output }) {
    output.write("x".repeat(10_000))
    return null
  },
})

test("a worker with one slot logs that a run was left before it logs the next one as taken", async () => {
  const lines: string[] = []
  const log = { ...silentLog, info: (message: string) => void lines.push(message) }
  const { meanwhile } = await createWorkplace({ tools: [print], log, background: { maxConcurrentTasks: 1 } })
  const tasks = await Promise.all(Array.from({ length: 20 }, () => meanwhile.tasks.start({ tool: "print", input: {} })))
  await Promise.all(tasks.map(({ id }) => meanwhile.tasks.result(id, { waitMs: 30_000 })))
  const courses = lines.filter((line) => line === "run taken" || line === "run left")
  expect(courses.length).toBeGreaterThan(0)
  const wrong = courses.filter((line, index) => line !== (index % 2 === 0 ? "run taken" : "run left"))
  expect(wrong).toEqual([])
})
