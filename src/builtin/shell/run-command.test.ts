import { tmpdir } from "node:os"
import { describe, expect, it } from "vitest"
import type { Tool } from "../../plugin/tool.ts"
import { createShellPlugin, type ShellPluginOptions } from "./shell-plugin.ts"
import { createContext, run } from "../../../test/support/builtin/shell.ts"
import { parsed } from "../../../test/support/plugin/parsed.ts"

const createTool = (options: Partial<ShellPluginOptions> = {}): Tool => {
  const [tool] = createShellPlugin({ workingDirectory: tmpdir(), environment: { HOME: "/home/me" }, ...options }).tools
  if (!tool) throw new Error("the shell plugin has no tool")
  return tool
}

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

  it("is a failure that keeps the output if the command exits with another code", async () => {
    const { context } = createContext("1 test failed\n", { exitCode: 2, signal: null, survivors: [] })
    expect(await run(createTool(), { command: "npm test" }, context)).toMatchObject({
      failure: { code: "exit_nonzero", message: "`npm test` exited with 2." },
      payload: { exitCode: 2, output: "1 test failed\n" },
    })
  })

  it("names the signal that ended the command, or says that it is not known", async () => {
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

  it("names processes that the command left running", async () => {
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
    expect(tool.title?.(parsed(tool.input, { command: "printf '\u001b[31mred\u0007'\n ls" }))).toBe("printf 'red' ls")
    const { context } = createContext("10%\r100%\r\u001b[2Kdone\u0007\n")
    expect(await run(tool, { command: "make" }, context)).toMatchObject({
      patch: { digest: ["exited with 0", "done"] },
    })
  })

  it("shortens a long title between two words, so that no half of a key is shown", () => {
    const tool = createTool()
    const titleOf = (command: string) => tool.title?.(parsed(tool.input, { command }))
    expect(titleOf(`echo ${"a".repeat(500)}`)).toBe("echo …")
    expect(titleOf(`${"word ".repeat(30)}end`)).toBe(`${"word ".repeat(15)}…`)
    expect(titleOf(`echo ${"a".repeat(75)}`)).toHaveLength(80)
    expect(titleOf(`/${"deep/".repeat(30)}tool --all`)).toBe("…/tool …")
  })
})
