import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { REPEAT_QUESTION } from "../../src/runner/run/on-crash.ts"
import { createTaskId, createWaitId, type WorkspaceId } from "../../src/task/id.ts"
import type { Wait } from "../../src/task/wait.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

/** A task that asks whether it may be run again. */
async function ask({ engine, tasks }: Runtime, expiring: Partial<Wait> = {}, workspace?: WorkspaceId) {
  const later = await tasks.start({ tool: "gated", input: {}, delayMs: 1e9, ...(workspace && { workspace }) })
  const wait: Wait = {
    id: createWaitId(),
    reason: "person",
    question: { kind: REPEAT_QUESTION, text: "Run it again?" },
    expiresAt: null,
    onExpiry: false,
    ...expiring,
  }
  const details = { ...later, id: createTaskId() }
  await engine.store.commit([{ op: "task.create", details, entry: { as: "waiting", wait } }])
  return { id: details.id, waitId: wait.id }
}

test("when a yes and a no come together the first counts, and the run goes by it", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { id, waitId } = await ask(meanwhile)
  const { tasks, engine } = meanwhile
  const [hasNoLooked, isYesWritten] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  interceptCommits(meanwhile, async (operations, commit) => {
    const answer = operations.find((operation) => operation.op === "wait.answer")
    if (!answer) return commit(operations)
    if (answer.answer === true) {
      await hasNoLooked.promise
      return commit(operations).finally(isYesWritten.resolve)
    }
    hasNoLooked.resolve()
    await isYesWritten.promise
    return commit(operations)
  })
  const [yes, no] = await Promise.allSettled([
    tasks.answer(waitId, true, "one person"),
    tasks.answer(waitId, false, "another"),
  ])
  expect(yes).toMatchObject({ status: "fulfilled", value: { status: "queued" } })
  expect(no).toMatchObject({ status: "rejected", reason: { code: "wrong_state" } })
  await gated.call(1)
  expect((await engine.store.task(id))?.status).toBe("running")
})

test("a no is kept with the wait, and ends the run", async () => {
  const { meanwhile } = await createWorkplace({ tools: [createGatedTool().tool] })
  const { waitId } = await ask(meanwhile)
  const task = await meanwhile.tasks.answer(waitId, false, "me")
  expect(task).toMatchObject({ status: "cancelled", stop: { by: "person" } })
  expect(await meanwhile.engine.store.wait(waitId)).toMatchObject({
    state: "answered",
    answer: false,
    answeredBy: "me",
  })
})

test.each([
  ["no, use a directory", /: use a directory$/],
  ["no tests here", /: no tests here$/],
  ["No.", /[^:.]$/],
])("a no may say why, and whoever asked is told: %s", async (answer, reason) => {
  const { meanwhile } = await createWorkplace({ tools: [createGatedTool().tool] })
  const { waitId } = await ask(meanwhile)
  const task = await meanwhile.tasks.answer(waitId, answer, "me")
  expect(task).toMatchObject({ status: "cancelled", stop: { reason: expect.stringMatching(reason) } })
})

test.each(["", "perhaps", "yesterday", "none", { decision: "allow" }, 1, null, ["yes"]])(
  "an answer to an approval that is neither yes nor no is refused: %j",
  async (answer) => {
    const { meanwhile } = await createWorkplace({ tools: [createGatedTool({ obeys: true }).tool] })
    const { id, waitId } = await ask(meanwhile)
    const { tasks, engine } = meanwhile
    await expect(tasks.answer(waitId, answer, "me")).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("true or false"),
    })
    expect((await engine.store.task(id))?.status).toBe("waiting")
    expect(await tasks.answer(waitId, " Yes", "me")).toMatchObject({ status: "queued" })
    expect(await engine.store.wait(waitId)).toMatchObject({ state: "answered", answer: true })
  },
)

test("a run that nobody decided on in time ends as interrupted, not as stopped by a person", async () => {
  const clock = createManualClock()
  const { meanwhile } = await createWorkplace({ tools: [createGatedTool().tool], clock })
  const { id, waitId } = await ask(meanwhile, { expiresAt: clock.now() + 500 })
  clock.advance(1_000)
  const { store } = meanwhile.engine
  const task = await eventually("it has ended", async () => {
    const found = await store.task(id)
    return found?.status !== "waiting" && found
  })
  expect(task).toMatchObject({ status: "interrupted", by: "lost_worker", failure: { code: "worker_lost" } })
  expect(await store.wait(waitId)).toMatchObject({ state: "answered", answer: false, answeredBy: "expiry" })
})

test("a wait is answered in its own workspace only", async () => {
  const { meanwhile } = await createWorkplace({ tools: [createGatedTool().tool] })
  const theirs = "theirs" as WorkspaceId
  const { waitId } = await ask(meanwhile, {}, theirs)
  const { tasks } = meanwhile
  await expect(tasks.answer(waitId, false, "me")).rejects.toMatchObject({ code: "not_found" })
  await expect(tasks.answer(waitId, false, "me", "ours")).rejects.toMatchObject({ code: "not_found" })
  expect((await tasks.answer(waitId, false, "me", theirs)).status).toBe("cancelled")
})

test.each([
  ["yes", "queued"],
  [" Y ", "queued"],
  [true, "queued"],
  ["no", "cancelled"],
  ["No, not today.", "cancelled"],
  [false, "cancelled"],
] as const)("tasks.answer takes %j for a decision, and needs no name of who answers", async (answer, status) => {
  const gated = createGatedTool({ obeys: true, effects: ["delete"] })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { waitId } = await ask(meanwhile)
  expect((await meanwhile.tasks.answer(waitId, answer)).status).toBe(status)
  const answered = { state: "answered", answeredBy: "person" }
  expect(await meanwhile.engine.store.wait(waitId)).toMatchObject(answered)
})

test("an approval that an engine's own user asks for takes yes and no, and nothing else", async () => {
  const { meanwhile } = await createWorkplace({ tools: [createGatedTool().tool] })
  const { tasks, engine } = meanwhile
  const question = { kind: "of somebody else", text: "Well?" }
  const [first, second] = [
    await ask(meanwhile, { reason: "approval", question }),
    await ask(meanwhile, { reason: "approval", question }),
  ]
  await expect(tasks.answer(first.waitId, "perhaps")).rejects.toMatchObject({ code: "invalid_input" })
  expect(await engine.store.wait(first.waitId)).toMatchObject({ state: "open" })
  await tasks.answer(first.waitId, "yes")
  await tasks.answer(second.waitId, "no")
  expect(await engine.store.wait(first.waitId)).toMatchObject({ answer: true })
  expect(await engine.store.wait(second.waitId)).toMatchObject({ answer: false })
})
