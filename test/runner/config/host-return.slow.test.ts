import { expect, test } from "vitest"
import { createMachines } from "../../support/two-machines.ts"

test("hostReturnSeconds: what outlives a worker ends interrupted when its machine is away for longer", async () => {
  const { open } = await createMachines()
  const host = await open({ background: { hostReturnSeconds: 1 } })
  const input = { command: "echo begun; exec sleep 1000" }
  const { id } = await host.runtime.tasks.start({ tool: "run_command", input, lifetime: "forever" })
  await host.runtime.tasks.waitForOutput(id, { pattern: /begun/, timeoutMs: 20_000 })
  await host.runtime.close()
  const other = await open({ background: { leaseSeconds: 1 } })
  const { task } = await other.runtime.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "interrupted", failure: { message: expect.stringContaining("running on") } })
  expect((await other.runtime.tasks.output(id)).text).toBe("begun\n")
})
