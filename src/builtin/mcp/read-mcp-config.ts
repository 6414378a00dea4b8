import { readFile } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import type { Variables } from "../../base/environment.ts"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { systemCodeOf } from "../../base/system-error.ts"
import { type McpConfig, mcpConfigSchema, type ServerConfig } from "./mcp-config.ts"

/**
 * Reads a `.mcp.json`. Without the file there are no servers. It starts nothing: whether the folder's servers may be
 * started is for the caller to decide. A relative `cwd` is taken from the file's folder.
 */
export async function readMcpConfig(path: string, environment: Variables): Promise<McpConfig> {
  const text = await readText(path)
  if (text === null) return { mcpServers: {} }
  const parsed = mcpConfigSchema.safeParse(expandAll(path, parseJson(path, text), environment))
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path: key, message }) => `${key.join(".") || "the file"}: ${message}`)
    throw toProblem(path, problems.join("; "))
  }
  const servers = Object.entries(parsed.data.mcpServers)
  return { mcpServers: Object.fromEntries(servers.map(([name, server]) => [name, withFolder(server, dirname(path))])) }
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return null
    throw toProblem(path, `it cannot be read (${toErrorMessage(error)})`)
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw toProblem(path, `it is not JSON (${toErrorMessage(error)}). Mend it or remove it`)
  }
}

/** Fills in the variables of every server but the disabled ones, which may name variables that nobody has set. */
function expandAll(path: string, value: unknown, environment: Variables): unknown {
  if (!isRecord(value) || !isRecord(value["mcpServers"])) return value
  const servers = Object.entries(value["mcpServers"]).map(([name, server]): [string, unknown] => {
    if (isRecord(server) && server["disabled"] === true) return [name, server]
    return [name, expandVariables(path, server, environment, ["mcpServers", name])]
  })
  return { ...value, mcpServers: Object.fromEntries(servers) }
}

function withFolder(server: ServerConfig, folder: string): ServerConfig {
  if (server.transport.kind !== "stdio") return server
  return { ...server, transport: { ...server.transport, cwd: resolve(folder, server.transport.cwd ?? ".") } }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function toProblem(path: string, problem: string): MeanwhileError {
  return new MeanwhileError("invalid_input", `${path}: ${problem}.`, { path })
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Replaces `${NAME}` and `${NAME:-default}` in every text of a JSON value. A variable nobody has set is a problem. */
function expandVariables(path: string, value: unknown, environment: Variables, keys: readonly string[]): unknown {
  if (typeof value === "string") {
    return value.replace(VARIABLE, (_, name: string, fallback: string | undefined) => {
      const found = environment[name]
      if (found !== undefined && (found !== "" || fallback === undefined)) return found
      if (fallback !== undefined) return fallback
      const fix = `Set it, or give a default: \${${name}:-…}`
      throw toProblem(path, `${keys.join(".")}: the environment variable ${name} is not set. ${fix}`)
    })
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => expandVariables(path, item, environment, [...keys, String(index)]))
  }
  if (!isRecord(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    expandVariables(path, item, environment, [...keys, key]),
  ])
  return Object.fromEntries(entries)
}
