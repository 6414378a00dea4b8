import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { lastSaid } from "../support/session/open-agent.ts"
import {
  call,
  callWithTask,
  createGatedCommand,
  lastAnswer,
  openBackground,
} from "../support/background/open-background.ts"

const start = (command: string) => ({
  tool: "startBackgroundTask",
  input: { plugin_name: "cli", tool_name: "runCommand", arguments: { name: command } },
})

test("000-58: pattern 1, the model starts a slow command in the background, goes on, and uses its result", async () => {
  const gated = createGatedCommand({ estimateMs: () => 30_000 })
  const agent = await openBackground(
    [
      { calls: [start("npm install")] },
      "I have started the installation. While that runs, I prepare the tests.",
      async () => call("getBackgroundTaskStatus", { task_id: (await agent.task(1)).id }),
      callWithTask("getBackgroundTaskResult"),
      call("run_command", { name: "npm test" }),
      "Installed and tested.",
    ],
    { shell: [gated.tool] },
  )
  const first = await agent.session.send("Install all dependencies and then run the tests")
  expect(first.text).toContain("While that runs")
  const install = await gated.call(1)
  expect(install.input.name).toBe("npm install")
  const second = agent.session.send("and now?")
  install.finish({ exitCode: 0, output: "added 12 packages" })
  const tests = await gated.call(2)
  tests.finish({ exitCode: 0 })
  expect((await second).text).toBe("Installed and tested.")
  expect(tests.input.name).toBe("npm test")
  expect((await agent.task(1)).status).toBe("completed")
})

test("000-59: pattern 2, the model looks which tools can, and starts one of them", async () => {
  const gated = createGatedCommand()
  const agent = await openBackground(
    [
      call("listBackgroundCapableTools"),
      (request) => {
        const { tools } = lastAnswer(request) as { tools: { plugin_name: string; tool_name: string }[] }
        return call("startBackgroundTask", { ...tools[0], arguments: { name: "make" } })
      },
      "It runs.",
    ],
    { shell: [gated.tool] },
  )
  await agent.session.send("build")
  expect((await gated.call(1)).input.name).toBe("make")
})

test("000-60: pattern 3, three test suites at once, each with its own task, all in the list", async () => {
  const gated = createGatedCommand()
  const suites = ["npm test", "pytest", "go test ./..."]
  const agent = await openBackground([{ calls: suites.map(start) }, call("listBackgroundTasks"), "All three run."], {
    shell: [gated.tool],
  })
  await agent.session.send("Run all three test suites")
  const started = await Promise.all([1, 2, 3].map((number) => gated.call(number)))
  expect(new Set(started.map(({ input }) => input.name))).toEqual(new Set(suites))
  const [first, second, third, list] = agent.answers()
  const ids = [first, second, third].map((answer) => answer?.["task_id"])
  expect(new Set(ids).size).toBe(3)
  expect(list).toMatchObject({ count: 3 })
  const listed = (list as { tasks: { task_id: string }[] }).tasks.map(({ task_id: id }) => id)
  expect(new Set(listed)).toEqual(new Set(ids))
})

test("000-61: pattern 4, a call past its threshold answers with its task, and its result comes by itself", async () => {
  const clock = createManualClock()
  const gated = createGatedCommand()
  const agent = await openBackground(
    [call("run_command", { name: "npm test" }), "It takes longer.", "The tests passed."],
    { shell: [gated.tool], clock },
  )
  const turn = agent.session.send("Run the full test suite")
  const tests = await gated.call(1)
  clock.advance(10_000)
  expect((await turn).text).toBe("It takes longer.")
  const { id } = await agent.task(1)
  expect(agent.answers()).toEqual([
    {
      auto_backgrounded: true,
      task_id: id,
      threshold_seconds: 10,
      message: `Task exceeded 10.0s threshold, continuing in background. It is stopped when it has run for 300 s. Its result comes back by itself; task_id '${id}' is for looking at it or cancelling it.`,
    },
  ])
  tests.finish({ passed: 40 })
  await agent.ended(1)
  await agent.session.send("well?")
  expect(lastSaid(agent.model, -1)).toContain('"passed":40')
  expect(gated.calls).toHaveLength(1)
})

test("a call that the person moved there before its threshold says so, with the time it had taken", async () => {
  const clock = createManualClock()
  const gated = createGatedCommand()
  const agent = await openBackground([call("run_command", { name: "npm test" }), "Moved."], {
    shell: [gated.tool],
    clock,
  })
  const turn = agent.session.send("Run the full test suite")
  await gated.call(1)
  clock.advance(2_500)
  await eventually("it is moved", async () => (await agent.session.promote()).length > 0)
  await turn
  expect(agent.answers()).toMatchObject([
    { auto_backgrounded: true, threshold_seconds: 2.5, message: expect.stringContaining("after 2.5s") },
  ])
})

test("with `wait` the result is waited for, and is not told a second time", async () => {
  const gated = createGatedCommand()
  const agent = await openBackground(
    [{ calls: [start("make")] }, callWithTask("getBackgroundTaskResult", { wait: true }), "Built.", "Nothing new."],
    { shell: [gated.tool] },
  )
  const turn = agent.session.send("build and tell me")
  const build = await gated.call(1)
  build.finish("built")
  await turn
  const { id } = await agent.task(1)
  expect(agent.answers()[1]).toMatchObject({ task_id: id, status: "completed", result: "built", error: null })
  await agent.session.send("anything new?")
  expect(lastSaid(agent.model, -1)).toBe("anything new?")
})

test("000-36: an exception in the tool is a failed task with its text, which the model reads", async () => {
  const gated = createGatedCommand()
  const agent = await openBackground(
    [{ calls: [start("make")] }, callWithTask("getBackgroundTaskResult", { wait: true }), "It failed."],
    { shell: [gated.tool] },
  )
  const turn = agent.session.send("build")
  const build = await gated.call(1)
  build.fail(new Error("no compiler"))
  await turn
  expect(agent.answers()[1]).toMatchObject({ status: "failed", result: null, error: "no compiler" })
})

test("000-71: a time limit given at the start is enforced, and its status is timeout", async () => {
  const clock = createManualClock()
  const gated = createGatedCommand()
  const slow = { ...start("sleep 99"), input: { ...start("sleep 99").input, timeout_seconds: 60 } }
  const agent = await openBackground(
    [
      { calls: [slow] },
      "It runs.",
      async () => call("getBackgroundTaskResult", { task_id: (await agent.task(1)).id }),
      "Oh.",
    ],
    { shell: [gated.tool], clock },
  )
  await agent.session.send("sleep")
  await gated.call(1)
  clock.advance(60_000)
  await agent.ended(1)
  await agent.session.send("well?")
  expect(agent.answers()[1]).toMatchObject({ status: "timeout", error: expect.stringContaining("time limit") })
})
