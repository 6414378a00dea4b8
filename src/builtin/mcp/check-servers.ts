import { definedVariables } from "../../base/environment.ts"
import { toErrorMessage } from "../../base/error.ts"
import type { McpConfig, ServerConfig } from "./mcp-config.ts"
import type { McpPluginOptions } from "./mcp-plugin.ts"
import { createSecretScrubber } from "./secret-scrubber.ts"

export type ServerCheck =
  | { readonly name: string; readonly outcome: "reachable"; readonly tools: number }
  | { readonly name: string; readonly outcome: "unreachable"; readonly reason: string }
  | { readonly name: string; readonly outcome: "disabled" }

type CheckOptions = Pick<McpPluginOptions, "workingDirectory" | "environment">

/** Starts and greets every server once, and ends it again. */
export async function checkServers(config: McpConfig, options: CheckOptions): Promise<readonly ServerCheck[]> {
  const servers = Object.entries(config.mcpServers)
  return Promise.all(servers.map(([name, server]) => checkServer(name, server, options)))
}

async function checkServer(name: string, server: ServerConfig, options: CheckOptions): Promise<ServerCheck> {
  if (server.disabled) return { name, outcome: "disabled" }
  const { openConnection } = await import("./open-connection.ts")
  try {
    const connection = await openConnection({
      ...options,
      environment: definedVariables(options.environment),
      transport: server.transport,
      timeoutMs: server.connectTimeoutMs,
      signal: new AbortController().signal,
      onToolsChanged: () => {},
      onLog: () => {},
      onElicit: async () => ({ action: "decline" }),
    })
    try {
      return { name, outcome: "reachable", tools: (await connection.listTools()).length }
    } finally {
      await connection.close()
    }
  } catch (error) {
    return { name, outcome: "unreachable", reason: createSecretScrubber(server.transport)(toErrorMessage(error)) }
  }
}
