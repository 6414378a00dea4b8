import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { GatedCall } from "../support/tools.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const SECRET = "sk-test1234567890abcdefghij"
const LOGIN = { account: "me", note: `signed in with ${SECRET}`, sort_key: "name" }

const signIn = (context: GatedCall["context"]) => context.step("sign in", async () => LOGIN)
const signInAgain = (context: GatedCall["context"]) => context.step("sign in", async () => expect.unreachable())

test("a step that returns a secret returns it as it is, every time, and records nothing of it", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  expect(await signIn(context)).toEqual(LOGIN)
  expect(await signInAgain(context)).toEqual(LOGIN)
  await context.step("plain", async () => ({ sort_key: "name" }))
  const [secret, plain] = await meanwhile.engine.store.steps(id, 1)
  expect(secret).toMatchObject({ state: "finished", result: expect.stringContaining("not kept") })
  expect(plain).toMatchObject({ state: "finished", result: { sort_key: "name" } })
})

test("a promotion writes nothing of the secret, and the run goes on with it", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  await signIn(context)
  expect(await execution.promote()).toBe(true)
  const [step] = await meanwhile.engine.store.steps(execution.taskId, 1)
  expect(step).toMatchObject({ state: "finished", result: expect.stringContaining("not kept") })
  expect(await signInAgain(context)).toEqual(LOGIN)
})

test("another process that goes on with the run is told that the secret is gone, and what to do", async () => {
  const gated = createGatedTool({ obeys: true, onCrash: "retry" })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock: createManualClock() })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await signIn((await gated.call(1)).context)
  const clock = createManualClock()
  const second = await another({ clock, background: { leaseSeconds: 3 } })
  await eventually("it runs again", () => {
    // In small steps, with looks in between: a worker counts no silence from a time when it stood still itself.
    clock.advance(100)
    return gated.calls.length > 1
  })
  const { context, fail } = await gated.call(2)
  const refusal = await signInAgain(context).catch((error: unknown) => error)
  expect(refusal).toMatchObject({
    code: "secret_not_kept",
    message: expect.stringMatching(/sign in.*Return a reference to the secret/s),
  })
  fail(refusal as Error)
  const { task } = await second.tasks.result(id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "failed", run: 1, failure: { code: "secret_not_kept" } })
})
