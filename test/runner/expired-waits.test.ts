import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { sampleDetails } from "../../src/engine/suite/samples.ts"
import { createWaitId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
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

test("a wait that cannot be answered now keeps no other one open", async () => {
  const clock = createManualClock()
  const { meanwhile } = await createWorkplace({ tools: [echo], clock })
  const { store } = meanwhile.engine
  const [held, other] = [createWaitId(), createWaitId()]
  for (const id of [held, other]) {
    const wait = { id, reason: "approval", question: "", expiresAt: clock.now() + 1_000, onExpiry: "yes" } as const
    const details = sampleDetails({ plugin: "test", tool: "echo", input: {} })
    await store.commit([{ op: "task.create", details, entry: { as: "waiting", wait } }])
  }
  interceptCommits(meanwhile, (operations, go) =>
    operations.some((one) => one.op === "wait.answer" && one.waitId === held)
      ? Promise.reject(new Error("somebody holds it"))
      : go(operations),
  )
  clock.advance(2_000)
  await eventually("the other is answered", async () => (await store.wait(other))?.state === "answered")
  expect(await store.wait(held)).toMatchObject({ state: "open" })
})
