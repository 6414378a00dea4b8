import { describe, expect, test } from "vitest"
import type { PermissionDecision } from "../../src/plugin/permission-request.ts"
import { openAgents, refused } from "../support/open-agent-tasks.ts"

const SECRET = "sk-test1234567890abcdefghij"

describe("002: resume", () => {
  test("resume completed task with follow-up prompt: another run, in the same conversation", async () => {
    const { runner, next, ended, complete, session } = await openAgents()
    const id = await complete()
    const resumed = await runner.resume(id, "and behind it?")
    expect(resumed).toMatchObject({ id, run: 2, status: "queued", resumeCount: 1, title: "agent: and behind it?" })
    const run = await next()
    expect(run.input).toEqual({ task: "and behind it?", profile: "scout", resumes: session })
    run.finish("a door")
    expect((await ended(id)).task).toMatchObject({ status: "completed", run: 2, patch: { payload: "a door" } })
  })

  test("resume completion notification: its end is told once, and that of the run before no more", async () => {
    const { runner, store, next, ended, complete } = await openAgents()
    const id = await complete()
    await runner.resume(id, "and behind it?")
    ;(await next()).finish("a door")
    await ended(id)
    const notices = await store.notices({ taskId: id }, 9)
    expect(notices.map(({ run, state }) => [run, state])).toEqual([
      [1, "superseded"],
      [2, "pending"],
    ])
  })

  test("reject resume of non-completed task", async () => {
    const { runner, next, ended } = await openAgents()
    const { id } = await runner.start({ tool: "agent", input: { task: "look" } })
    const run = await next()
    await expect(runner.resume(id, "more")).rejects.toMatchObject(
      refused("is running: only completed tasks can be resumed"),
    )
    run.fail()
    await ended(id)
    await expect(runner.resume(id, "more")).rejects.toMatchObject(
      refused("is failed: only completed tasks can be resumed"),
    )
  })

  test("reject concurrent resume: of many at once one is taken", async () => {
    const { runner, store, complete } = await openAgents()
    const id = await complete()
    const answers = await Promise.allSettled([1, 2, 3].map((number) => runner.resume(id, `more ${number}`)))
    const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as unknown] : []))
    expect(failures).toHaveLength(2)
    for (const failure of failures) expect(failure).toMatchObject(refused("is currently being resumed"))
    await expect(runner.resume(id, "more")).rejects.toMatchObject(refused("is currently being resumed"))
    expect(await store.task(id)).toMatchObject({ run: 2, resumeCount: 1 })
  })

  test("handle expired session on resume", async () => {
    const { runner, store, complete, loseSession } = await openAgents()
    const id = await complete()
    loseSession()
    const message = expect.stringMatching(/no longer exists.*Start a new task/)
    await expect(runner.resume(id, "more")).rejects.toMatchObject({ code: "expired", message })
    expect(await store.task(id)).toMatchObject({ run: 1, resumeCount: 0, status: "completed" })
  })
})

test("a task that is no agent, or cannot go on with a conversation, is not resumed", async () => {
  const { runner, complete } = await openAgents()
  const { id } = await runner.start({ tool: "echo", input: {} })
  await runner.result(id, { waitMs: 30_000 })
  await expect(runner.resume(id, "more")).rejects.toMatchObject(refused("only agents can be resumed"))
  const stubborn = await complete({ task: "look" }, "stubborn")
  await expect(runner.resume(stubborn, "more")).rejects.toMatchObject(refused("only agents can be resumed"))
  await expect(runner.resume(await complete(), " ")).rejects.toMatchObject({ code: "invalid_input" })
})

test("a resume needs permission like any call", async () => {
  let decision: PermissionDecision = { allowed: true }
  const { runner, store, complete } = await openAgents(() => decision)
  const id = await complete()
  decision = { allowed: false, reason: "not any longer" }
  await expect(runner.resume(id, "more")).rejects.toMatchObject({ code: "permission_denied" })
  expect(await store.task(id)).toMatchObject({ run: 1, status: "completed" })
})

test("an agent whose input was cleared away is resumed all the same: its conversation knows it", async () => {
  const { runner, store, next, complete, session } = await openAgents()
  const id = await complete()
  await store.commit([{ op: "task.strip", taskId: id }])
  await runner.resume(id, "more")
  expect((await next()).input).toEqual({ task: "more", resumes: session })
})

test("a secret in a follow-up reaches the agent, and no record", async () => {
  const { runner, store, next, complete } = await openAgents()
  const id = await complete()
  await runner.resume(id, `use ${SECRET}`)
  expect((await next()).input.task).toBe(`use ${SECRET}`)
  expect(JSON.stringify(await store.task(id))).not.toContain(SECRET)
})
