import { isJsonObject, type JsonObject, toJson } from "../../base/json.ts"
import type { Effect } from "../../plugin/effect.ts"
import { createSchema, type Schema } from "../../plugin/schema.ts"
import { type BackgroundPolicy, defineTool, type Tool } from "../../plugin/tool.ts"
import { callServerTool, endServerTask } from "./call-tool.ts"
import type { ToolDefinition } from "./connection.ts"
import type { ServerConfig } from "./mcp-config.ts"
import type { ServerLink } from "./server-link.ts"
import { createHash } from "node:crypto"

const DESCRIPTION_CHARACTERS = 4_000

/** A server's tool as one of ours. */
export function createServerTool(link: ServerLink, definition: ToolDefinition): Tool {
  const { config } = link
  const isIdempotent = definition.isIdempotent || config.idempotentTools.includes(definition.name)
  const { timeoutMs } = config
  return defineTool<JsonObject>({
    name: toToolName(link.name, definition.name),
    description: definition.description.trim().slice(0, DESCRIPTION_CHARACTERS) || definition.name,
    input: toInput(definition),
    background: toBackground(config),
    title: () => `${link.name}: ${definition.name}`,
    effects: toEffects(definition),
    onCrash: isIdempotent ? "retry" : "fail",
    ...(timeoutMs !== undefined && { timeoutMs }),
    endElsewhere: (steps) => endServerTask(link, steps),
    run: (input, context) => callServerTool({ link, tool: definition, isIdempotent }, input, context),
  })
}

/** The model is told the server's own schema, word for word; inputs are checked against it before anything is sent. */
function toInput(definition: ToolDefinition): Schema<JsonObject> {
  const { $schema: _, id: _id, ...schema } = definition.inputSchema
  return createSchema({ ...schema, type: "object" }, (given) => {
    const input = toJson(given)
    if (!isJsonObject(input)) return { issues: [{ message: "must be an object" }] }
    const issues = definition.check(input).map((message) => ({ message }))
    return issues.length > 0 ? { issues } : { value: input }
  })
}

/** A call whose time limit ends before its threshold stays in the foreground. */
function toBackground({ backgroundAfterMs, timeoutMs }: ServerConfig): BackgroundPolicy {
  if (backgroundAfterMs === undefined) return { mode: "after" }
  if (timeoutMs !== undefined && timeoutMs <= backgroundAfterMs) return { mode: "never" }
  return { mode: "after", ms: backgroundAfterMs }
}

function toEffects({ isReadOnly, isDestructive }: ToolDefinition): readonly Effect[] {
  if (isReadOnly) return []
  return isDestructive ? ["delete"] : ["unknown"]
}

const LONGEST_NAME = 64
const HASH_CHARACTERS = 8

/**
 * `mcp__server__tool` in letters that every model API takes. A name that had to be changed or cut, or that could be read
 * in two ways, ends in a hash of the original: two tools never get one name, and a tool always gets the same name.
 */
export function toToolName(server: string, tool: string): string {
  const wanted = `mcp__${server}__${tool}`
  const legal = wanted.replace(/[^A-Za-z0-9_-]/g, "_")
  // Otherwise the tool `b__c` of `a` and the tool `c` of `a__b` would have one name.
  const isPlainServer = !/__|_$/.test(server)
  if (isPlainServer && legal === wanted && legal.length <= LONGEST_NAME) return legal
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, HASH_CHARACTERS)
  return `${legal.slice(0, LONGEST_NAME - HASH_CHARACTERS - 1)}_${hash}`
}
