import { spawn } from "node:child_process"
import { type AddressInfo, createServer } from "node:net"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { toInputSchema } from "../../src/plugin/input-schema.ts"
import { contentOf } from "../../src/plugin/tool.ts"
import { createFolder } from "../support/workplace.ts"
import { eventually } from "../support/eventually.ts"
import { everything, openMcp } from "../support/mcp/open-mcp.ts"

const call = (tool: string, input: object = {}) => ({ plugin: "mcp", tool: `mcp__everything__${tool}`, input })

describe("the reference server over stdio", () => {
  it("shows the model its own schemas and answers calls with text", async () => {
    const { runner, plugin } = await openMcp(createFolder(), { everything })
    const echo = plugin.tools.find(({ name }) => name === "mcp__everything__echo")
    expect(echo && toInputSchema(echo.input)).toEqual({
      type: "object",
      properties: { message: { type: "string", description: "Message to echo" } },
      required: ["message"],
    })
    const answer = await runner.execute(call("echo", { message: "hello" })).answer
    expect(answer).toMatchObject({ outcome: "completed", patch: { payload: "Echo: hello" } })
    const sum = await runner.execute(call("get-sum", { a: 2, b: 3 })).answer
    expect(JSON.stringify(sum)).toContain("The sum of 2 and 3 is 5.")
  })

  it("hands structured content on once, and an image as a file", async () => {
    const { runner } = await openMcp(createFolder(), { everything })
    const structured = await runner.execute(call("get-structured-content", { location: "New York" })).answer
    if (structured.outcome !== "completed") throw new Error(structured.outcome)
    const { payload } = structured.patch
    const weather: unknown = JSON.parse(typeof payload === "string" ? payload : "null")
    expect(weather).toHaveProperty("temperature")
    const image = await runner.execute(call("get-tiny-image")).answer
    if (image.outcome !== "completed") throw new Error(image.outcome)
    const files = contentOf(image.patch.payload)?.filter(({ type }) => type === "file")
    expect(files).toMatchObject([{ mediaType: "image/png" }])
  })

  it("gets only the basics of the environment and the variables of its entry", async () => {
    const server = { ...everything, env: { FIXTURE_WORD: "given" } }
    process.env["FIXTURE_OWN"] = "not for servers"
    onTestFinished(() => void delete process.env["FIXTURE_OWN"])
    const { runner } = await openMcp(createFolder(), { everything: server })
    const answer = JSON.stringify(await runner.execute(call("get-env")).answer)
    expect(answer).toContain("FIXTURE_WORD")
    expect(answer).not.toContain("FIXTURE_OWN")
  })

  it("goes on in the background with its progress when it takes long", async () => {
    const server = { ...everything, backgroundAfterMs: 200 }
    const { runner } = await openMcp(createFolder(), { everything: server })
    const input = { duration: 2, steps: 4 }
    const answer = await runner.execute(call("trigger-long-running-operation", input)).answer
    if (answer.outcome !== "promoted") throw new Error(answer.outcome)
    const { id } = answer.task
    await eventually("progress is shown", async () => (await runner.get(id)).task.progress?.total === 4)
    const { task } = await runner.result(id, { waitMs: 30_000 })
    expect(task.status).toBe("completed")
    expect(JSON.stringify(task)).toContain("Long running operation completed")
  })

  it("is told when a call is cancelled, and takes the next one", async () => {
    const { runner } = await openMcp(createFolder(), { everything })
    const task = await runner.start(call("trigger-long-running-operation", { duration: 600, steps: 6_000 }))
    await eventually("it runs", async () => (await runner.get(task.id)).task.progress?.done)
    await runner.cancel(task.id)
    expect((await runner.result(task.id, { waitMs: 30_000 })).task.status).toBe("cancelled")
    const answer = await runner.execute(call("echo", { message: "still here" })).answer
    expect(answer).toMatchObject({ outcome: "completed" })
  })

  it("asks the person in the middle of a task of its own, and ends it with the answer", async () => {
    const options = { answer: () => "Python snake species" }
    const { runner, questions } = await openMcp(createFolder(), { everything }, options)
    const task = await runner.start(call("simulate-research-query", { topic: "python", ambiguous: true }))
    const { task: ended } = await runner.result(task.id, { waitMs: 20_000 })
    expect(ended.status).toBe("completed")
    expect(JSON.stringify(ended)).toContain("python (snake)")
    expect(questions).toMatchObject([{ kind: "choice" }])
  })

  it("is started again after it died, and a call in flight that may be repeated is made again", async () => {
    const directory = createFolder()
    const { runner, plugin } = await openMcp(directory, { everything: withPidFile(directory) })
    const task = await runner.start(call("trigger-long-running-operation", { duration: 3, steps: 6 }))
    await eventually("it runs", async () => (await runner.get(task.id)).task.progress?.done)
    process.kill(readPid(directory), "SIGKILL")
    const { task: ended } = await runner.result(task.id, { waitMs: 20_000 })
    expect(ended.status).toBe("completed")
    const again = await runner.execute(call("echo", { message: "back" })).answer
    expect(again).toMatchObject({ outcome: "completed", patch: { payload: "Echo: back" } })
    expect(plugin.status()).toMatchObject([{ state: "connected", lastError: expect.stringContaining("closed") }])
  })

  it("is gone when the plugin is shut down", async () => {
    const directory = createFolder()
    const { plugin } = await openMcp(directory, { everything: withPidFile(directory) })
    const pid = readPid(directory)
    process.kill(pid, 0)
    await plugin.shutdown?.()
    expect(() => process.kill(pid, 0)).toThrow("ESRCH")
    expect(plugin.status()).toMatchObject([{ state: "closed" }])
  })
})

describe("the reference server over HTTP", () => {
  it("answers calls and runs its tasks as ours", async () => {
    const port = await startOverHttp()
    const { runner } = await openMcp(createFolder(), { everything: { url: `http://127.0.0.1:${port}/mcp` } })
    const answer = await runner.execute(call("echo", { message: "hello" })).answer
    expect(answer).toMatchObject({ outcome: "completed", patch: { payload: "Echo: hello" } })
    const task = await runner.start(call("simulate-research-query", { topic: "rain" }))
    const { task: ended } = await runner.result(task.id, { waitMs: 20_000 })
    expect(ended.status).toBe("completed")
    expect(JSON.stringify(ended)).toContain("Research Report: rain")
  })
})

/** A command that writes down its process id before it becomes the server. */
function withPidFile(directory: string) {
  const script = 'echo $$ > "$0"; exec "$@"'
  return { command: "/bin/sh", args: ["-c", script, join(directory, "pid"), everything.command, ...everything.args] }
}

const readPid = (directory: string): number => Number(readFileSync(join(directory, "pid"), "utf8"))

async function startOverHttp(): Promise<number> {
  const port = await findFreePort()
  const args = [...everything.args, "streamableHttp"]
  const server = spawn(everything.command, args, { env: { ...process.env, PORT: String(port) }, stdio: "ignore" })
  onTestFinished(() => void server.kill("SIGKILL"))
  await eventually("the server listens", () =>
    fetch(`http://127.0.0.1:${port}/mcp`, { method: "DELETE" }).then(
      () => true,
      () => false,
    ),
  )
  return port
}

async function findFreePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise<void>((resolve) => probe.close(() => resolve()))
  return port
}
