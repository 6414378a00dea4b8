import { z } from "zod"

const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9._ -]{0,63}$/

/** The names other programs give the same two ways of reaching a server over HTTP. */
const KINDS = ["stdio", "http", "streamable-http", "streamableHttp", "sse"] as const

const duration = z.number().int().positive()
const texts = z.record(z.string(), z.string())

const rawServer = z.object({
  type: z.enum(KINDS).optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  cwd: z.string().min(1).optional(),
  url: z.url({ protocol: /^https?$/, error: "must be an http or https address" }).optional(),
  headers: texts.default({}),
  disabled: z.boolean().default(false),
  tools: z.array(z.string()).optional().describe("The tools to offer; all of them without it."),
  idempotentTools: z.array(z.string()).default([]).describe("Tools that may be called again after a lost connection."),
  backgroundAfterMs: duration.optional(),
  timeoutMs: duration.optional(),
  connectTimeoutMs: duration.default(10_000),
})

const server = rawServer.transform(({ type, command, args, env, cwd, url, headers, ...rest }, context) => {
  const problem = findProblem(type, command, url)
  if (url !== undefined && problem === null) {
    return { ...rest, transport: { kind: type === "sse" ? ("sse" as const) : ("http" as const), url, headers } }
  }
  if (command !== undefined && problem === null) {
    return { ...rest, transport: { kind: "stdio" as const, command, args, env, ...(cwd !== undefined && { cwd }) } }
  }
  context.addIssue({ code: "custom", message: problem ?? "needs a command or a url" })
  return z.NEVER
})

function findProblem(type: string | undefined, command: string | undefined, url: string | undefined): string | null {
  if (command !== undefined && url !== undefined) return "has a command and a url: keep the one it is reached by"
  if (command === undefined && type === "stdio") return "its type needs a command"
  if (url === undefined && type !== undefined && type !== "stdio") return "its type needs a url"
  return command === undefined && url === undefined ? "needs a command (stdio) or a url (HTTP)" : null
}

/** The content of `.mcp.json`. Keys of other programs are ignored. */
export const mcpConfigSchema = z.object({
  mcpServers: z.record(z.string().regex(SERVER_NAME, "must be letters, digits, . _ - and spaces"), server).default({}),
})

export type McpConfig = z.output<typeof mcpConfigSchema>
export type ServerConfig = McpConfig["mcpServers"][string]
export type ServerTransport = ServerConfig["transport"]
