import { PassThrough } from "node:stream"
import { text } from "node:stream/consumers"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { tellLive } from "../../src/cli/chat/left-tasks.ts"
import { createLineScreen } from "../../src/cli/screen/create-screen.ts"
import { createSessionId, type SessionId } from "../../src/task/id.ts"
import { createFolder } from "../support/workplace.ts"

async function openIdleRuntime() {
  const shell = createShellPlugin({ workingDirectory: createFolder(), environment: {} })
  const runtime = await createRuntime({ dataDirectory: createFolder(), takesWork: false, plugins: [shell] })
  onTestFinished(() => runtime.close())
  return runtime
}

/** What a chat that runs so many tasks says of two that are in the queue. */
async function tellOfQueued(maxConcurrentTasks: number): Promise<string> {
  const runtime = await openIdleRuntime()
  for (const command of ["sleep 1", "sleep 2"]) await runtime.tasks.start({ tool: "run_command", input: { command } })
  const output = new PassThrough()
  const meanwhile = Object.assign(runtime, { maxConcurrentTasks })
  const screen = createLineScreen(output)
  const told = await tellLive({ meanwhile, screen, concerns: async () => true, conversation: createSessionId() })
  expect(told).toHaveLength(2)
  output.end()
  return text(output)
}

test("a chat says of queued tasks that they go on, and one that runs no tasks that they are left to workers", async () => {
  expect(await tellOfQueued(1)).toBe("2 tasks go on from before: see /tasks\n")
  expect(await tellOfQueued(0)).toBe("2 tasks are left to workers: see /tasks\n")
})

test("a chat follows the tasks of its conversation, however many others a team has begun since", async () => {
  const runtime = await openIdleRuntime()
  const start = (session: SessionId | null) =>
    runtime.tasks.start({ tool: "run_command", input: { command: "sleep 1" }, session })
  const conversation = createSessionId()
  const ids = [(await start(conversation)).id]
  await Promise.all(Array.from({ length: 1_001 }, () => start(createSessionId())))
  ids.unshift((await start(conversation)).id)
  const told = await tellLive({
    meanwhile: Object.assign(runtime, { maxConcurrentTasks: 0 }),
    screen: createLineScreen(new PassThrough()),
    concerns: async ({ session }) => session === conversation,
    conversation,
  })
  expect(told).toEqual(ids)
})
