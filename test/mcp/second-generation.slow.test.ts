import { describe, expect, it } from "vitest"
import { createFolder } from "../support/workplace.ts"
import { eventually } from "../support/eventually.ts"
import { openMcp } from "../support/mcp/open-mcp.ts"
import { startSecondGenerationServer } from "../support/mcp/second-generation-server.ts"

const call = (tool: string, input: object = {}) => ({ plugin: "mcp", tool: `mcp__fixture__${tool}`, input })

describe("a server of the second generation", () => {
  it("answers a plain call in the foreground", async () => {
    const server = await startSecondGenerationServer()
    const { runner, plugin } = await openMcp(createFolder(), { fixture: { url: server.url } })
    expect(plugin.status()).toMatchObject([{ name: "fixture", state: "connected", generation: "second" }])
    const answer = await runner.execute(call("greet", { name: "Ada" })).answer
    expect(answer).toMatchObject({ outcome: "completed", patch: { payload: "hello Ada" } })
  })

  it("refuses an input that its schema does not take before anything is sent", async () => {
    const server = await startSecondGenerationServer()
    const { runner } = await openMcp(createFolder(), { fixture: { url: server.url } })
    await expect(runner.execute(call("greet", { name: "far too long a name" })).answer).rejects.toMatchObject({
      code: "invalid_input",
    })
    expect(server.calls.get("greet")).toBeUndefined()
  })

  it("has its task followed as ours to its end", async () => {
    const server = await startSecondGenerationServer()
    const { runner } = await openMcp(createFolder(), { fixture: { url: server.url } })
    const task = await runner.start(call("slow_job"))
    await eventually("the server's task is shown", async () => {
      const { task: seen } = await runner.get(task.id)
      return seen.progress?.line === "counting"
    })
    server.finish("task-1", "counted to ten")
    const { task: ended } = await runner.result(task.id, { waitMs: 30_000 })
    expect(ended).toMatchObject({ status: "completed", patch: { payload: "counted to ten" } })
  })

  it("has its task cancelled with ours", async () => {
    const server = await startSecondGenerationServer()
    const { runner } = await openMcp(createFolder(), { fixture: { url: server.url } })
    const task = await runner.start(call("slow_job"))
    await eventually("the server has the task", () => server.tasks.get("task-1"))
    await runner.cancel(task.id)
    const { task: ended } = await runner.result(task.id, { waitMs: 30_000 })
    expect(ended.status).toBe("cancelled")
    expect(server.tasks.get("task-1")?.status).toBe("cancelled")
  })

  it("fails our task with the error of its own", async () => {
    const server = await startSecondGenerationServer()
    const { runner } = await openMcp(createFolder(), { fixture: { url: server.url } })
    const task = await runner.start(call("slow_job"))
    await eventually("the server has the task", () => server.tasks.get("task-1"))
    server.fail("task-1", -32_603, "the bridge fell")
    const { task: ended } = await runner.result(task.id, { waitMs: 30_000 })
    expect(ended).toMatchObject({ status: "failed", failure: { code: "server_error" } })
    expect(JSON.stringify(ended)).toContain("the bridge fell")
  })

  it("gets the person's answer when its task needs one", async () => {
    const server = await startSecondGenerationServer()
    const options = { answer: () => "yes" }
    const { runner, questions } = await openMcp(createFolder(), { fixture: { url: server.url } }, options)
    const task = await runner.start(call("confirm_delete"))
    await eventually("the answer arrives", () => server.answers.length > 0)
    server.finish("task-1", "deleted")
    await runner.result(task.id, { waitMs: 30_000 })
    expect(server.answers).toEqual([{ q1: { action: "accept", content: { sure: true } } }])
    expect(questions).toMatchObject([{ kind: "choice", options: ["yes", "no"] }])
    expect(questions[0]?.text).toContain("The MCP server fixture asks: Delete for good?")
  })

  it("is told that a question was declined when nobody answers", async () => {
    const server = await startSecondGenerationServer()
    const { runner } = await openMcp(createFolder(), { fixture: { url: server.url } })
    const answer = await runner.execute(call("ask_first")).answer
    expect(answer).toMatchObject({ outcome: "completed", patch: { payload: 'answered {"q1":{"action":"decline"}}' } })
  })

  it("is called again with the answer when it asks before it works", async () => {
    const server = await startSecondGenerationServer()
    const options = { answer: () => "no" }
    const { runner } = await openMcp(createFolder(), { fixture: { url: server.url } }, options)
    const answer = await runner.execute(call("ask_first")).answer
    const payload = 'answered {"q1":{"action":"accept","content":{"sure":false}}}'
    expect(answer).toMatchObject({ outcome: "completed", patch: { payload } })
    expect(server.calls.get("ask_first")).toBe(2)
  })

  it("fails the call with its own words if its tool fails or it refuses", async () => {
    const server = await startSecondGenerationServer()
    const { runner } = await openMcp(createFolder(), { fixture: { url: server.url } })
    const failed = await runner.execute(call("fail")).answer
    expect(failed).toMatchObject({ outcome: "failed", failure: { code: "tool_error", message: "the disk is full" } })
    const refused = await runner.execute(call("refuse")).answer
    expect(refused).toMatchObject({ outcome: "failed", failure: { code: "server_error" } })
    expect(JSON.stringify(refused)).toContain("not like this")
  })

  it("shows a tool that it adds later", async () => {
    const server = await startSecondGenerationServer()
    const changed = Promise.withResolvers<void>()
    let isReady = false
    const onToolsChanged = () => isReady && changed.resolve()
    const { plugin } = await openMcp(createFolder(), { fixture: { url: server.url } }, { onToolsChanged })
    isReady = true
    server.addTool("late")
    await changed.promise
    expect(plugin.tools.map(({ name }) => name)).toContain("mcp__fixture__late")
  })
})

describe("a connection that is lost in mid-call", () => {
  it("fails a tool that may not be repeated, and says that the end is not known", async () => {
    const server = await startSecondGenerationServer()
    const { runner } = await openMcp(createFolder(), { fixture: { url: server.url } })
    const { answer } = runner.execute(call("hang"))
    await eventually("the call arrives", () => server.calls.get("hang"))
    await server.stop()
    const failure = { code: "plugin_unavailable" }
    expect(await answer).toMatchObject({ outcome: "failed", failure })
    expect(JSON.stringify(await answer)).toContain("whether it finished is not known")
  })

  it("repeats an idempotent tool once the server is back", async () => {
    const server = await startSecondGenerationServer()
    const { runner } = await openMcp(createFolder(), { fixture: { url: server.url } })
    const { answer } = runner.execute(call("hang_idempotent", { name: "Ada" }))
    await eventually("the call arrives", () => server.calls.get("hang_idempotent"))
    await server.stop()
    await server.restart()
    expect(await answer).toMatchObject({ outcome: "completed", patch: { payload: "hello Ada" } })
    expect(server.calls.get("hang_idempotent")).toBe(2)
  })

  it("picks a task of the server up again", async () => {
    const server = await startSecondGenerationServer()
    const { runner, plugin } = await openMcp(createFolder(), { fixture: { url: server.url } })
    const task = await runner.start(call("slow_job"))
    await eventually("the server has the task", () => server.tasks.get("task-1"))
    await server.stop()
    await eventually("the loss is seen", () => plugin.status()[0]?.state !== "connected")
    server.finish("task-1", "done meanwhile")
    await server.restart()
    const { task: ended } = await runner.result(task.id, { waitMs: 30_000 })
    expect(ended).toMatchObject({ status: "completed", patch: { payload: "done meanwhile" } })
    expect(server.calls.get("slow_job")).toBe(1)
  })
})

describe("a crash of Meanwhile", () => {
  it("leaves the server's task alone, and the next start picks it up by its id", async () => {
    const server = await startSecondGenerationServer()
    const directory = createFolder()
    const first = await openMcp(directory, { fixture: { url: server.url } })
    const task = await first.runner.start(call("slow_job"))
    await eventually("the task is followed", async () => (await first.runner.get(task.id)).task.progress?.line)
    first.abandon()
    const second = await openMcp(directory, { fixture: { url: server.url } }, { lifeNumber: 1 })
    server.finish("task-1", "counted on")
    const { task: ended } = await second.runner.result(task.id, { waitMs: 30_000 })
    expect(ended).toMatchObject({ status: "completed", patch: { payload: "counted on" } })
    expect(server.calls.get("slow_job")).toBe(1)
  })

  it("interrupts a call in flight that may not be repeated", async () => {
    const server = await startSecondGenerationServer()
    const directory = createFolder()
    const first = await openMcp(directory, { fixture: { url: server.url } })
    const task = await first.runner.start(call("hang"))
    await eventually("the call arrives", () => server.calls.get("hang"))
    first.abandon()
    const second = await openMcp(directory, { fixture: { url: server.url } }, { lifeNumber: 1 })
    const { task: ended } = await second.runner.result(task.id, { waitMs: 30_000 })
    expect(ended.status).toBe("interrupted")
    expect(server.calls.get("hang")).toBe(1)
  })
})
