import { expect, onTestFinished, test } from "vitest"
import { openTestRuntime, testOfFile, type TestRuntime } from "../support/test-engine.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { describeLiveWork } from "../../src/cli/chat/announcer.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { findLiveWork } from "../../src/desk/live-work.ts"
import { createSessionId, type SessionId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { openDesks } from "../support/desk/open-desks.ts"
import { createFolder } from "../support/workplace.ts"

async function openIdleRuntime(maxConcurrentTasks: number): Promise<TestRuntime> {
  const shell = createShellPlugin({ workingDirectory: createFolder(), environment: {} })
  const background = { maxConcurrentTasks }
  const runtime = await openTestRuntime({
    dataDirectory: createFolder(),
    takesWork: false,
    plugins: [shell],
    background,
  })
  onTestFinished(() => runtime.close())
  return runtime
}

/**
 * The lines in which a chat that runs at most so many tasks tells of two queued tasks. On a server, tasks without a conversation concern
 * nobody.
 */
async function tellOfQueued(maxConcurrentTasks: number): Promise<readonly string[]> {
  const runtime = await openIdleRuntime(maxConcurrentTasks)
  for (const command of ["sleep 1", "sleep 2"]) await runtime.tasks.start({ tool: "run_command", input: { command } })
  const desk = runtime.desk(LOCAL_PERSON)
  const news = desk.news({ isHere: () => true, areReportsOn: false, onNews: () => {} })
  onTestFinished(() => news.close())
  const work = await news.followLive(createSessionId())
  expect(work.tasks).toHaveLength(2)
  return describeLiveWork(work)
}

testOfFile(
  "a chat says of queued tasks that they are queued, and one that runs no tasks that they are left to workers",
  async () => {
    expect(await tellOfQueued(1)).toEqual(["2 tasks are queued: see /tasks"])
    expect(await tellOfQueued(0)).toEqual(["2 tasks are left to workers: see /tasks"])
  },
)

test("a chat follows the tasks of its conversation, however many others a team has begun since", async () => {
  const runtime = await openIdleRuntime(0)
  const start = (session: SessionId | null) =>
    runtime.tasks.start({ tool: "run_command", input: { command: "sleep 1" }, session })
  const conversation = createSessionId()
  const ids = [(await start(conversation)).id]
  await Promise.all(Array.from({ length: 1_001 }, () => start(createSessionId())))
  ids.unshift((await start(conversation)).id)
  const { blocked, workspace } = runtime.desk(LOCAL_PERSON)
  const work = await findLiveWork(
    { workspace, blocked, tasks: runtime.tasks, runsTasks: false },
    conversation,
    async ({ session }) => session === conversation,
  )
  expect(work.tasks).toEqual(ids)
})

test("the end of a task is told at once where somebody asks for it, and then not again", async () => {
  const { desk, gated, elsewhere } = await openDesks()
  const { id } = await desk.tasks.start({ tool: "gated", input: {} })
  const told: string[] = []
  const news = (await elsewhere()).news({
    isHere: () => true,
    areReportsOn: false,
    onNews: ({ type }) => void told.push(type),
  })
  onTestFinished(() => news.close())
  news.follow(id)
  await news.tellEnds([id])
  expect(told).toEqual([])
  ;(await gated.call(1)).finish()
  await desk.tasks.wait(id, { waitMs: 20_000 })
  await news.tellEnds([id])
  expect(told).toEqual(["task.ended"])
  await eventually("nobody waits for its end", () => news.tellEnds([id]) === undefined)
  expect(told).toEqual(["task.ended"])
})
