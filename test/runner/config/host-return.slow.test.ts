import { expect, test } from "vitest"
import { createMachines, leaveCommands } from "../../support/two-machines.ts"

test("hostReturnSeconds: what outlives a worker ends interrupted when its machine is away for longer", async () => {
  const machines = await createMachines()
  const [id = ""] = await leaveCommands(machines, { background: { hostReturnSeconds: 1 } })
  const other = await machines.open({ background: { leaseSeconds: 1 } })
  const { task } = await other.runtime.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "interrupted", failure: { message: expect.stringContaining("running on") } })
  expect((await other.runtime.tasks.output(id)).text).toBe("begun\n")
})
