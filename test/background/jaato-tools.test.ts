import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { add } from "../support/session/test-tools.ts"
import { call, callWithTask, createGatedCommand, openBackground } from "../support/background/open-background.ts"

const BUILD = { plugin_name: "cli", tool_name: "runCommand", arguments: { name: "npm ci" } }
const UNKNOWN = "00000000-0000-4000-8000-000000000000"

async function openTools() {
  const { session } = await openBackground([])
  return new Map(session.tools().map((tool) => [tool.name, tool]))
}

test.each([
  ["000-39: getBackgroundTaskStatus", "getBackgroundTaskStatus"],
  ["getBackgroundTaskResult", "getBackgroundTaskResult"],
  ["000-41: cancelBackgroundTask", "cancelBackgroundTask"],
])("%s takes a task_id, and nothing else is needed", async (_, name) => {
  const schema = (await openTools()).get(name)?.inputSchema
  expect(schema).toMatchObject({ properties: { task_id: { type: "string" } } })
  expect(schema?.["required"]).toEqual(["task_id"])
})

test("000-40: getBackgroundTaskResult answers at once, and with wait: true when the task has ended", async () => {
  const gated = createGatedCommand()
  const agent = await openBackground(
    [
      call("startBackgroundTask", BUILD),
      callWithTask("getBackgroundTaskResult"),
      callWithTask("getBackgroundTaskResult", { wait: true }),
      "Installed.",
    ],
    { shell: [gated.tool] },
  )
  const turn = agent.session.send("install")
  await eventually("it waits", () => agent.model.callCount === 3)
  ;(await gated.call(1)).finish("installed")
  await turn
  const [, atOnce, waited] = agent.answers()
  expect(atOnce).toMatchObject({ status: "running", result: null })
  expect(waited).toMatchObject({ status: "completed", result: "installed" })
})

test("000-47: of a task that does not exist every tool says that it was not found", async () => {
  const tools = ["getBackgroundTaskStatus", "getBackgroundTaskResult", "cancelBackgroundTask"]
  const calls = tools.map((tool) => ({ tool, input: { task_id: UNKNOWN } }))
  const agent = await openBackground([{ calls }, "Oh."])
  await agent.session.send("go")
  expect(agent.answers()).toEqual(tools.map(() => ({ error: `Task '${UNKNOWN}' not found` })))
})

test("000-48: status, result, cancel, list and capable have the shapes of the design", async () => {
  const clock = createManualClock()
  const gated = createGatedCommand()
  const agent = await openBackground(
    [
      call("startBackgroundTask", BUILD),
      callWithTask("getBackgroundTaskStatus"),
      callWithTask("getBackgroundTaskResult"),
      call("listBackgroundTasks"),
      call("listBackgroundCapableTools"),
      async () => call("cancelBackgroundTask", { task_id: (await agent.task(1)).id }),
      "Done.",
    ],
    { shell: [gated.tool], clock },
  )
  await agent.session.send("go")
  const { id, createdAt } = await agent.task(1)
  expect(agent.answers().slice(1)).toEqual([
    { task_id: id, plugin_name: "cli", status: "running" },
    { task_id: id, plugin_name: "cli", status: "running", result: null, error: null, duration_seconds: null },
    {
      tasks: [
        {
          task_id: id,
          plugin_name: "cli",
          tool_name: "runCommand",
          created_at: new Date(createdAt).toISOString(),
          estimated_duration_seconds: null,
        },
      ],
      count: 1,
    },
    { tools: [{ plugin_name: "cli", tool_name: "runCommand" }], count: 1 },
    { task_id: id, cancelled: true },
  ])
})

test("000-42: listBackgroundTasks has the active ones only, and those of one plugin when it is asked so", async () => {
  const [command, other] = [createGatedCommand(), createGatedTool({ obeys: true })]
  const agent = await openBackground(
    [
      {
        calls: [
          { tool: "startBackgroundTask", input: BUILD },
          { tool: "startBackgroundTask", input: { tool_name: "gated", arguments: {} } },
          { tool: "startBackgroundTask", input: { tool_name: "echo", arguments: { value: "quick" } } },
        ],
      },
      async () => {
        await eventually("the quick one ends", async () => {
          const { items } = await agent.runtime.tasks.list({ tool: "echo", statuses: ["completed"] })
          return items.length === 1
        })
        return call("listBackgroundTasks")
      },
      call("listBackgroundTasks", { plugin_name: "cli" }),
      call("listBackgroundTasks", { plugin_name: "nobody" }),
      "Done.",
    ],
    { shell: [command.tool], tools: [other.tool, echo] },
  )
  await agent.session.send("go")
  const [all, ofShell, ofNobody] = agent.answers().slice(3)
  expect(all?.["count"]).toBe(2)
  expect(ofShell).toMatchObject({ count: 1, tasks: [{ plugin_name: "cli" }] })
  expect(ofNobody).toEqual({ tasks: [], count: 0 })
})

test("000-43: listBackgroundCapableTools takes nothing and lists what can, as it is exposed now", async () => {
  const script = [call("listBackgroundCapableTools"), "So.", call("listBackgroundCapableTools"), "So."]
  const agent = await openBackground(script, { shell: [createGatedCommand().tool], tools: [echo, add] })
  await agent.session.send("which?")
  await agent.runtime.plugins.unexpose("test")
  await agent.session.send("and now?")
  expect(agent.answers()).toEqual([
    {
      tools: [
        { plugin_name: "test", tool_name: "echo" },
        { plugin_name: "cli", tool_name: "runCommand" },
      ],
      count: 2,
    },
    { tools: [{ plugin_name: "cli", tool_name: "runCommand" }], count: 1 },
  ])
})

test("000-24: cancelling is true for what had ended, and what runs is stopped", async () => {
  const gated = createGatedCommand()
  const agent = await openBackground(
    [
      call("startBackgroundTask", BUILD),
      callWithTask("cancelBackgroundTask"),
      callWithTask("cancelBackgroundTask"),
      "Ok.",
    ],
    { shell: [gated.tool] },
  )
  await agent.session.send("go")
  expect(agent.answers().slice(1)).toMatchObject([{ cancelled: true }, { cancelled: true }])
  expect(await agent.task(1)).toMatchObject({ status: "cancelled", stop: { by: "model" } })
})

test("000-12: statuses have the names of the design", async () => {
  const gated = createGatedCommand()
  const started = ["a", "b", "c", "d"].map((name) => ({
    tool: "startBackgroundTask",
    input: { ...BUILD, arguments: { name } },
  }))
  const look = async () => ({
    calls: await Promise.all(
      started.map(async (_, index) => ({
        tool: "getBackgroundTaskStatus",
        input: { task_id: (await agent.task(index + 1)).id },
      })),
    ),
  })
  const agent = await openBackground([{ calls: started }, "They run.", look, "So.", look, "So."], {
    shell: [gated.tool],
    background: { maxConcurrentPerPlugin: 3 },
  })
  await agent.session.send("go")
  await gated.call(3)
  await agent.session.send("how are they?")
  expect(
    agent
      .answers()
      .slice(4)
      .map(({ status }) => status),
  ).toEqual(["running", "running", "running", "pending"])
  gated.calls[0]?.finish()
  gated.calls[1]?.fail(new Error("no disk"))
  await agent.runtime.tasks.cancel((await agent.task(3)).id)
  const last = await gated.call(4)
  last.finish()
  for (const number of [1, 2, 3, 4]) await agent.ended(number)
  await agent.session.send("and now?")
  expect(
    agent
      .answers()
      .slice(8)
      .map(({ status }) => status),
  ).toEqual(["completed", "failed", "cancelled", "completed"])
})
