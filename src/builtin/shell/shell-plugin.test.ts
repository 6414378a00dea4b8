import { mkdtemp, mkdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { createRegistry } from "../../plugin/registry.ts"
import type { Tool } from "../../plugin/tool.ts"
import { createShellPlugin, type ShellPluginOptions } from "./shell-plugin.ts"
import { createContext, run } from "../../../test/support/builtin/shell.ts"
import { parsed } from "../../../test/support/plugin/parsed.ts"
import { parse } from "../../plugin/schema.ts"

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

describe("where a command runs", () => {
  it("is kept as a whole path, which asks for the same as what was asked for", async () => {
    await mkdir(join(directory, "web"))
    const tool = createTool()
    for (const cwd of [undefined, ".", "web", "./web/", join(directory, "web"), "/"]) {
      const asked = parsed(tool.input, { command: "ls", cwd })
      const kept = tool.pin?.(asked)
      expect(kept).toEqual({
        command: "ls",
        cwd: join(cwd === "/" ? "/" : directory, cwd?.includes("web") ? "web" : ""),
        withoutShell: true,
      })
      expect(parsed(tool.input, kept)).toEqual(asked)
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
  it("works without options: in the directory of the process, without its keys", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-none")
    vi.stubEnv("LC_ALL", "C")
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const [tool] = createShellPlugin().tools
    const { context, requests } = createContext("")
    await run(tool ?? createTool(), { command: "make" }, context)
    expect(requests[0]?.cwd).toBe(process.cwd())
    expect(requests[0]?.env).toMatchObject({ PATH: process.env["PATH"], LC_ALL: "C" })
    expect(requests[0]?.env).not.toHaveProperty("ANTHROPIC_API_KEY")
  })

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
    const refused = parse(createTool().input, input)
    expect(refused.success).toBe(false)
    expect(JSON.stringify(refused)).toContain(message)
  })

  it("refuses relative folders when the plugin is made", () => {
    expect(() => createTool({ workingDirectory: "web" })).toThrow('absolute paths only, not "web"')
    expect(() => createTool({ extraPaths: ["bin"] })).toThrow('absolute paths only, not "bin"')
  })
})

it("leaves it to the runner what a time limit in the input means for the threshold", () => {
  const { background, input } = createTool()
  const policyOf = (value: unknown) => (typeof background === "function" ? background(parsed(input, value)) : undefined)
  expect(policyOf({ command: "ls", timeoutMs: 3_000 })).toEqual(policyOf({ command: "ls" }))
  expect(policyOf({ command: "npm ci", timeoutMs: 3_000 })).toEqual(policyOf({ command: "npm ci" }))
})

it("is a plugin like any other: a registry takes it and tells a model about it", async () => {
  const registry = createRegistry()
  await registry.register(createShellPlugin({ workingDirectory: directory, environment: {} }))
  const [schema] = registry.toolSchemas()
  expect(schema).toMatchObject({
    plugin: "shell",
    name: "run_command",
    inputSchema: { required: ["command"], additionalProperties: false },
  })
  expect(schema?.description).toContain("goes on in the background")
})

it("says what a command does to the world, and shows the whole of it before it is allowed", async () => {
  const tool = createTool()
  const input = parsed(tool.input, { command: "rm -rf build\nls", env: { API_KEY: "k-1234" } })
  expect(typeof tool.effects === "function" && tool.effects(input)).toEqual(["delete", "unknown"])
  expect(await tool.preview?.(input)).toBe("rm -rf build\nls\nwith its own API_KEY")
})
