import { mkdtemp, mkdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { JsonValue } from "../../base/json.ts"
import type { ToolContext } from "../../plugin/context.ts"
import type { OutputChunk, OutputRequest } from "../../plugin/output.ts"
import type { ProcessExit, ProcessRequest } from "../../plugin/process.ts"
import { createRegistry } from "../../plugin/registry.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { ToolReturn } from "../../plugin/tool-return.ts"
import type { TaskId } from "../../task/id.ts"
import { createShellPlugin, type ShellPluginOptions } from "./shell-plugin.ts"

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "meanwhile-shell-"))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const createTool = (options: Partial<ShellPluginOptions> = {}): Tool => {
  const [tool] = createShellPlugin({ workingDirectory: directory, environment: { HOME: "/home/me" }, ...options }).tools
  if (!tool) throw new Error("the shell plugin has no tool")
  return tool
}

const SUCCESS: ProcessExit = { exitCode: 0, signal: null, survivors: [] }

/** A context whose only process prints `printed` and ends with `exit`. */
function createContext(printed: string, exit: ProcessExit = SUCCESS) {
  const requests: ProcessRequest[] = []
  const bytes = Buffer.from(printed)
  const read = async ({
    offset = 0,
    tailBytes,
    limitBytes = bytes.length,
  }: OutputRequest = {}): Promise<OutputChunk> => {
    const start = tailBytes === undefined ? offset : Math.max(0, bytes.length - tailBytes)
    const end = Math.min(bytes.length, start + limitBytes)
    const text = bytes.subarray(start, end).toString()
    return { text, offset: start, nextOffset: end, totalBytes: bytes.length, droppedBefore: null, isComplete: true }
  }
  const context = {
    taskId: "5f0c" as TaskId,
    output: { read, write: () => undefined },
    processes: {
      run: async (request: ProcessRequest) => {
        requests.push(request)
        return exit
      },
    },
  } as unknown as ToolContext
  return { context, requests }
}

async function run(tool: Tool, input: unknown, context: ToolContext): Promise<JsonValue | ToolReturn> {
  return tool.run(tool.input.parse(input), context)
}

describe("where a command runs", () => {
  it("is kept as a whole path, which asks for the same as what was asked for", async () => {
    await mkdir(join(directory, "web"))
    const tool = createTool()
    for (const cwd of [undefined, ".", "web", "./web/", join(directory, "web"), "/"]) {
      const asked = tool.input.parse({ command: "ls", cwd })
      const kept = tool.pin?.(asked)
      expect(kept).toEqual({
        command: "ls",
        cwd: join(cwd === "/" ? "/" : directory, cwd?.includes("web") ? "web" : ""),
      })
      expect(tool.input.parse(kept)).toEqual(asked)
    }
  })

  it("does not depend on who runs it", async () => {
    const kept = createTool().pin?.({ command: "ls", cwd: "." })
    const elsewhere = createTool({ workingDirectory: "/" })
    const { context, requests } = createContext("")
    await run(elsewhere, kept, context)
    expect(requests[0]?.cwd).toBe(directory)
  })
})

describe("running a command", () => {
  it("gives the text to the shell in the working directory, with the given environment and nothing else", async () => {
    const { context, requests } = createContext("")
    await run(createTool(), { command: "echo $HOME" }, context)
    expect(requests).toEqual([{ argv: ["/bin/sh", "-c", "echo $HOME"], cwd: directory, env: { HOME: "/home/me" } }])
  })

  it("adds the call's environment and looks for programs in the extra folders last", async () => {
    const { context, requests } = createContext("")
    const tool = createTool({
      environment: { PATH: "/bin", LANG: "C" },
      extraPaths: ["/opt/a", "/opt/b"],
      shell: "/bin/bash",
    })
    await run(tool, { command: "make", env: { LANG: "de", MODE: "fast" } }, context)
    expect(requests[0]).toMatchObject({
      argv: ["/bin/bash", "-c", "make"],
      env: { PATH: "/bin:/opt/a:/opt/b", LANG: "de", MODE: "fast" },
    })
  })

  it("makes a PATH of the extra folders alone when there is none", async () => {
    const { context, requests } = createContext("")
    await run(createTool({ extraPaths: ["/opt/a"] }), { command: "make" }, context)
    expect(requests[0]?.env["PATH"]).toBe("/opt/a")
  })

  it("takes a directory relative to the working directory", async () => {
    await mkdir(join(directory, "web"))
    const { context, requests } = createContext("")
    await run(createTool(), { command: "ls", cwd: "web" }, context)
    expect(requests[0]?.cwd).toBe(join(directory, "web"))
  })

  it.each([
    [{ command: "ls", cwd: "missing" }, "there is no directory"],
    [{ command: "  " }, "must not be empty"],
    [{ command: "a\0b" }, "NUL"],
    [{ command: "ls", env: { "A-B": "1" } }, "is no name of an environment variable"],
    [{ command: "ls", timeoutMs: -5 }, "timeoutMs"],
    [{ command: "ls", background: true }, "background"],
    [{}, "command"],
  ])("refuses %o before anything runs", (input, message) => {
    const parsed = createTool().input.safeParse(input)
    expect(parsed.success).toBe(false)
    expect(JSON.stringify(parsed.error?.issues)).toContain(message)
  })

  it("refuses relative folders when the plugin is made", () => {
    expect(() => createTool({ workingDirectory: "web" })).toThrow('absolute paths only, not "web"')
    expect(() => createTool({ extraPaths: ["bin"] })).toThrow('absolute paths only, not "bin"')
  })
})

describe("the result of a command", () => {
  it("holds the exit code and the whole of short output", async () => {
    const { context } = createContext("compiling\ndone\n")
    expect(await run(createTool(), { command: "make" }, context)).toMatchObject({
      patch: {
        digest: ["exited with 0", "done"],
        facts: { exitCode: 0 },
        payload: {
          exitCode: 0,
          signal: null,
          output: "compiling\ndone\n",
          outputBytes: 15,
          truncated: false,
          survivors: [],
        },
      },
    })
  })

  it("is a failure that keeps what was printed when the command exits with another code", async () => {
    const { context } = createContext("1 test failed\n", { exitCode: 2, signal: null, survivors: [] })
    expect(await run(createTool(), { command: "npm test" }, context)).toMatchObject({
      failure: { code: "exit_nonzero", message: "`npm test` exited with 2." },
      payload: { exitCode: 2, output: "1 test failed\n" },
    })
  })

  it("names the signal that ended it, or says that nobody knows", async () => {
    const killed = createContext("", { exitCode: null, signal: 9, survivors: [] })
    expect(await run(createTool(), { command: "sleep 9" }, killed.context)).toMatchObject({
      failure: { code: "ended_by_signal", message: "`sleep 9` was ended by SIGKILL." },
      payload: { exitCode: null, signal: "SIGKILL" },
    })
    const lost = createContext("", { exitCode: null, signal: null, survivors: "unknown" })
    expect(await run(createTool(), { command: "sleep 9" }, lost.context)).toMatchObject({
      failure: { code: "exit_unknown" },
      payload: { survivors: "unknown" },
    })
  })

  it("tells what the command left running", async () => {
    const survivors = [{ pid: 77, command: "sleep 100" }]
    const { context } = createContext("", { exitCode: 0, signal: null, survivors })
    expect(await run(createTool(), { command: "setsid sleep 100 &" }, context)).toMatchObject({
      patch: { payload: { survivors } },
    })
  })

  it("keeps the head and the tail of long output within 8 KiB and says where the rest is", async () => {
    const printed = `first line\n${"x".repeat(100_000)}\nlast line\n`
    const { context } = createContext(printed)
    const returned = JSON.stringify(await run(createTool(), { command: "make" }, context))
    const { payload } = (JSON.parse(returned) as { patch: { payload: { output: string; truncated: boolean } } }).patch
    expect(payload.truncated).toBe(true)
    expect(payload.output.startsWith("first line\n")).toBe(true)
    expect(payload.output.endsWith("last line\n")).toBe(true)
    expect(payload.output).toContain(`of ${printed.length} bytes left out here: bytes 2048 to ${printed.length - 5120}`)
    expect(payload.output).toContain("task 5f0c")
    expect(JSON.stringify(payload).length).toBeLessThan(8 * 1024)
  })

  it("keeps control characters out of the title and the digest", async () => {
    const tool = createTool()
    expect(tool.title?.(tool.input.parse({ command: "printf '\u001b[31mred\u0007'\n ls" }))).toBe("printf 'red' ls")
    const { context } = createContext("10%\r100%\r\u001b[2Kdone\u0007\n")
    expect(await run(tool, { command: "make" }, context)).toMatchObject({
      patch: { digest: ["exited with 0", "done"] },
    })
  })

  it("shortens a long title between two words, so that no half of a key is shown", () => {
    const tool = createTool()
    const titleOf = (command: string) => tool.title?.(tool.input.parse({ command }))
    expect(titleOf(`echo ${"a".repeat(500)}`)).toBe("echo …")
    expect(titleOf(`${"word ".repeat(30)}end`)).toBe(`${"word ".repeat(15)}…`)
    expect(titleOf(`echo ${"a".repeat(75)}`)).toHaveLength(80)
    expect(titleOf(`/${"deep/".repeat(30)}tool --all`)).toBe("…/tool …")
  })
})

it("leaves it to the runner what a time limit in the input means for the threshold", () => {
  const { background, input } = createTool()
  const policyOf = (value: unknown) => (typeof background === "function" ? background(input.parse(value)) : undefined)
  expect(policyOf({ command: "ls", timeoutMs: 3_000 })).toEqual(policyOf({ command: "ls" }))
  expect(policyOf({ command: "npm ci", timeoutMs: 3_000 })).toEqual(policyOf({ command: "npm ci" }))
})

it("is a plugin like any other: a registry takes it and tells a model about it", async () => {
  const registry = createRegistry()
  await registry.register(createShellPlugin({ workingDirectory: directory, environment: {} }))
  const [schema] = registry.toolSchemas({ backgroundThresholdMs: 10_000 })
  expect(schema).toMatchObject({
    plugin: "shell",
    name: "run_command",
    inputSchema: { required: ["command"], additionalProperties: false },
  })
  expect(schema?.description).toContain("goes on in the background")
})

it("says what a command does to the world, and shows the whole of it before it is allowed", async () => {
  const tool = createTool()
  const input = tool.input.parse({ command: "rm -rf build\nls", env: { API_KEY: "k-1234" } })
  expect(typeof tool.effects === "function" && tool.effects(input)).toEqual(["delete", "unknown"])
  expect(await tool.preview?.(input)).toBe(`rm -rf build\nls\nin ${directory}\nwith its own API_KEY`)
})
