import { expect, test } from "vitest"
import { echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const LARGE = [2 ** 53, 1e300, Number.POSITIVE_INFINITY]

test.each(LARGE)("limits of %d are stored as the largest that can be read again", async (limit) => {
  const { meanwhile } = await createWorkplace({ tools: [{ ...echo, timeoutMs: () => limit }] })
  const most = Math.min(limit, Number.MAX_VALUE)
  const call = { tool: "echo", input: { value: "x" }, tokenLimit: most, costLimitMicros: most, outputLimitBytes: most }
  const { id } = await meanwhile.tasks.start(call)
  await meanwhile.tasks.result(id, { waitMs: 60_000 })
  const largest = Number.MAX_SAFE_INTEGER
  expect((await meanwhile.tasks.get(id)).task).toMatchObject({
    status: "completed",
    limits: { timeoutMs: largest, tokens: largest, costMicros: largest, outputBytes: largest },
  })
  expect((await meanwhile.tasks.list({})).items).toHaveLength(1)
})

test("a tool whose time limit is no number has none", async () => {
  const { meanwhile } = await createWorkplace({ tools: [{ ...echo, timeoutMs: () => Number.NaN }] })
  const { id } = await meanwhile.tasks.start({ tool: "echo", input: { value: "x" } })
  await meanwhile.tasks.result(id, { waitMs: 60_000 })
  expect((await meanwhile.tasks.get(id)).task).toMatchObject({ status: "completed", limits: { timeoutMs: null } })
})
