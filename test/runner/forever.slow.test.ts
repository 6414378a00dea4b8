import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createFolder, openIn } from "../support/workplace.ts"

test("a task that outlives Meanwhile is taken over at once by the next one, even in the same process", async () => {
  const directory = createFolder()
  // A lease longer than the test may take: silence alone would not be enough to take over.
  const background = { leaseSeconds: 600 }
  const first = await openIn(directory, { background })
  const command = "echo begun; until test -e go; do sleep 0.02; done; echo over; exit 7"
  const { id } = await first.tasks.start({ tool: "run_command", input: { command }, lifetime: "forever" })
  await first.tasks.waitForOutput(id, { pattern: /begun/, timeoutMs: 20_000 })
  await first.close()
  const second = await openIn(directory, { background })
  expect((await second.tasks.get(id)).task.status).toBe("running")
  writeFileSync(join(directory, "go"), "")
  const { task } = await second.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "failed", failure: { code: "exit_nonzero" } })
  expect((await second.tasks.output(id)).text).toBe("begun\nover\n")
})
