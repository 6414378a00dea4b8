import type { JsonObject, JsonValue } from "../../base/json.ts"

/** `first`: up to 2025-11-25, begun with `initialize`; `second`: from 2026-07-28 on, begun with `server/discover`. */
export type Generation = "first" | "second"

/** A tool as its server declares it. All texts are the server's: data, never instruction. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly isReadOnly: boolean
  readonly isDestructive: boolean
  readonly isIdempotent: boolean
  /** True if its calls are requested as tasks. Servers of the second generation decide for themselves. */
  readonly asksForTask: boolean
  /** Problems of an input; empty if there are none. */
  check(input: JsonValue): readonly string[]
}

export interface RequestOptions {
  readonly signal: AbortSignal
  readonly onProgress?: (update: { done: number; total: number | null; line: string | null }) => void
}

/** Input a server requests before it continues, by key. */
export type InputRequests = Readonly<Record<string, { readonly method: string; readonly params: JsonObject }>>

export type CallAnswer =
  | { readonly kind: "result"; readonly result: JsonObject }
  /** The server made the call a task of its own. */
  | { readonly kind: "task"; readonly taskId: string }
  | { readonly kind: "input_required"; readonly requests: InputRequests; readonly requestState: string | null }

/** One live connection. Contract: everything rejects with `ConnectionLost`, `ServerRefusal` or the signal's reason. */
export interface Connection {
  readonly generation: Generation
  readonly instructions: string
  /** Resolves when the connection is gone, ended by either side. */
  readonly closed: Promise<void>
  listTools(): Promise<readonly ToolDefinition[]>
  /** `more`: the answers to what an earlier answer required. */
  callTool(tool: ToolDefinition, input: JsonObject, options: RequestOptions, more?: JsonObject): Promise<CallAnswer>
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject>
  close(): Promise<void>
}

export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost"
  /** False when the request surely never reached the server. */
  readonly mayHaveArrived: boolean

  constructor(message: string, { mayHaveArrived, ...options }: ErrorOptions & { readonly mayHaveArrived: boolean }) {
    super(message, options)
    this.mayHaveArrived = mayHaveArrived
  }
}

/** The server answered, and its answer is an error of the protocol. */
export class ServerRefusal extends Error {
  override readonly name = "ServerRefusal"
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
