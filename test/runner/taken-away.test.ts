import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { openAgents } from "../support/open-agent-tasks.ts"

const SECRET = "sk-test1234567890abcdefghij"

async function openUsed() {
  const opened = await openAgents()
  const { runner, store, complete } = opened
  const id = await complete()
  await runner.acknowledge([id])
  const session = (await store.task(id))?.session
  if (!session) throw new Error("an agent has a session")
  const ways = {
    strip: () => runner.stripConsumed(session),
    remove: () => runner.clear({ isConsumed: true }),
  }
  return { ...opened, id, ways }
}

test("what a resumed agent prints and is told stays, although its earlier result is taken away meanwhile", async () => {
  const { runner, store, next, ended, id, ways } = await openUsed()
  interceptCommits({ engine: { store } }, async (operations, commit) => {
    const answers = await commit(operations)
    if (operations.some(({ op }) => op === "task.strip")) {
      await runner.resume(id, `use ${SECRET}`)
      const resumed = await next()
      resumed.print("behind it is a door\n")
      await eventually("it is kept", async () => (await runner.output(id)).totalBytes > 0)
      resumed.fail()
      await ended(id)
    }
    return answers
  })
  expect(await ways.strip()).toBe(1)
  expect((await runner.output(id)).text).toBe("behind it is a door\n")
  await runner.retry(id)
  expect((await next()).input.task).toBe(`use ${SECRET}`)
})

test.each(["strip", "remove"] as const)("a result that came after the used one is not taken away: %s", async (way) => {
  const { runner, store, next, ended, id, ways } = await openUsed()
  let isResumed = false
  interceptCommits({ engine: { store } }, async (operations, commit) => {
    if (operations.some(({ op }) => op === `task.${way}`) && !isResumed) {
      isResumed = true
      await runner.resume(id, "and behind it?")
      ;(await next()).finish("a door")
      await ended(id)
    }
    return commit(operations)
  })
  expect(await ways[way]()).toBe(0)
  expect(await store.task(id)).toMatchObject({ run: 2, strippedAt: null, patch: { payload: "a door" } })
})
