import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { sampleDetails } from "../../src/engine/suite/samples.ts"
import { createWaitId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a wait whose time is over is answered as it was opened, and its run goes on", async () => {
  const clock = createManualClock()
  const { meanwhile } = await createWorkplace({ tools: [echo], clock })
  const wait = {
    id: createWaitId(),
    reason: "approval",
    question: "May it run?",
    expiresAt: clock.now() + 5_000,
    onExpiry: "yes",
  } as const
  const details = sampleDetails({ plugin: "test", tool: "echo", input: { value: "ran" } })
  const { store } = meanwhile.engine
  await store.commit([{ op: "task.create", details, entry: { as: "waiting", wait } }])
  clock.advance(4_000)
  expect((await meanwhile.tasks.get(details.id)).task.status).toBe("waiting")
  clock.advance(2_000)
  const answered = await eventually("the wait is answered", async () => {
    const found = await store.wait(wait.id)
    return found?.state === "answered" && found
  })
  expect(answered).toMatchObject({ answer: "yes", answeredBy: "expiry" })
  const { task } = await meanwhile.tasks.result(details.id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: "ran" } })
})
