import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { readMcpConfig } from "./read-mcp-config.ts"

function write(content: unknown): string {
  const directory = mkdtempSync(join(tmpdir(), "meanwhile-mcp-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, ".mcp.json")
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
  return path
}

it("takes servers over stdio and HTTP, with variables and their defaults filled in", async () => {
  const path = write({
    mcpServers: {
      local: { command: "node", args: ["${SCRIPT:-server.js}"], env: { TOKEN: "${TOKEN}" }, cwd: "tools", other: 1 },
      remote: { type: "http", url: "https://${HOST}/mcp", headers: { Authorization: "Bearer ${TOKEN}" } },
    },
  })
  const { mcpServers } = await readMcpConfig(path, { TOKEN: "t0ken", HOST: "example.org" })
  expect(mcpServers["local"]?.transport).toEqual({
    kind: "stdio",
    command: "node",
    args: ["server.js"],
    env: { TOKEN: "t0ken" },
    cwd: join(path, "..", "tools"),
  })
  expect(mcpServers["remote"]?.transport).toEqual({
    kind: "http",
    url: "https://example.org/mcp",
    headers: { Authorization: "Bearer t0ken" },
  })
})

it("has no servers where there is no file", async () => {
  expect(await readMcpConfig(join(tmpdir(), "nowhere", ".mcp.json"), {})).toEqual({ mcpServers: {} })
})

it("passes over the variables of a server that is switched off", async () => {
  const path = write({ mcpServers: { off: { command: "x", env: { A: "${UNSET}" }, disabled: true } } })
  expect((await readMcpConfig(path, {})).mcpServers["off"]?.disabled).toBe(true)
})

it.each([
  ["{", "it is not JSON"],
  [{ mcpServers: { a: { command: "${UNSET}" } } }, "mcpServers.a.command: the environment variable UNSET is not set"],
  [{ mcpServers: { a: {} } }, "mcpServers.a: needs a command (stdio) or a url (HTTP)"],
  [{ mcpServers: { a: { command: "x", url: "http://y" } } }, "mcpServers.a: has a command and a url"],
  [{ mcpServers: { a: { type: "http", command: "x" } } }, "mcpServers.a: its type needs a url"],
  [{ mcpServers: { a: { url: "ftp://y" } } }, "mcpServers.a.url: must be an http or https address"],
])("names the file, the key and the cause: %j", async (content, problem) => {
  const path = write(content)
  const refused = readMcpConfig(path, {})
  await expect(refused).rejects.toMatchObject({ code: "invalid_input" })
  await expect(refused).rejects.toThrow(`${path}: ${problem}`)
})
