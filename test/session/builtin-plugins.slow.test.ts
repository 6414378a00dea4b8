import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createMcpPlugin } from "../../src/builtin/mcp/mcp-plugin.ts"
import { readMcpConfig } from "../../src/builtin/mcp/read-mcp-config.ts"
import { createShellPlugin } from "../../src/builtin/shell/shell-plugin.ts"
import { everything } from "../support/mcp/open-mcp.ts"
import { createFolder, toTestMarker } from "../support/workplace.ts"
import { openAgent, resultsOf, resultText } from "../support/session/open-agent.ts"

test("004-49: the model runs a command, whose program is found in the extra paths", async () => {
  const folder = createFolder()
  writeFileSync(join(folder, "bake"), "#!/bin/sh\necho baked $1\n")
  chmodSync(join(folder, "bake"), 0o755)
  const [name = "", value = ""] = toTestMarker(folder).split("=")
  const environment = { PATH: process.env["PATH"] ?? "", [name]: value }
  const shell = createShellPlugin({ workingDirectory: folder, environment, extraPaths: [folder] })
  const calls = [{ tool: "run_command", input: { command: "bake bread" } }]
  const { session } = await openAgent([{ calls }, "done"], { isKept: true, folder, plugins: [shell] })
  await session.send("go")
  expect(resultsOf(session.history()).map(resultText)).toEqual([expect.stringContaining("baked bread")])
})

test("004-50: the tools of the servers of .mcp.json are offered with their schemas, and answer calls", async () => {
  const folder = createFolder()
  writeFileSync(join(folder, ".mcp.json"), JSON.stringify({ mcpServers: { everything } }))
  const environment = { PATH: process.env["PATH"] ?? "" }
  const config = await readMcpConfig(join(folder, ".mcp.json"), environment)
  const mcp = createMcpPlugin({ config, workingDirectory: folder, environment })
  const calls = [{ tool: "mcp__everything__echo", input: { message: "bread" } }]
  const { session, model } = await openAgent([{ calls }, "done"], { isKept: true, folder, plugins: [mcp] })
  await session.send("go")
  const echo = model.requests[0]?.tools.find(({ name }) => name === "mcp__everything__echo")
  expect(echo?.inputSchema).toMatchObject({ properties: { message: { type: "string" } } })
  expect(resultsOf(session.history()).map(resultText)).toEqual([expect.stringContaining("bread")])
})
