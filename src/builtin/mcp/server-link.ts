import type { Clock } from "../../base/clock.ts"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { lookUntil, type Watch } from "../../base/look-until.ts"
import { type CallDesk, createCallDesk } from "./call-desk.ts"
import type { Connection, Generation, ToolDefinition } from "./connection.ts"
import type { ServerConfig } from "./mcp-config.ts"
import type { OpenOptions } from "./open-connection.ts"
import { createSecretScrubber, type Scrub } from "./secret-scrubber.ts"

export type ServerState = "connecting" | "connected" | "unreachable" | "disabled" | "closed"

export interface ServerStatus {
  readonly name: string
  readonly state: ServerState
  readonly generation: Generation | null
  readonly tools: readonly string[]
  /** The reason of the newest failure, also after a reconnect. */
  readonly lastError: string | null
}

/** Keeps one server connected for as long as it is open. */
export interface ServerLink {
  readonly name: string
  readonly config: ServerConfig
  readonly calls: CallDesk
  readonly scrub: Scrub
  /** Resolves when the first attempt is over, however it went. */
  start(): Promise<void>
  status(): ServerStatus
  /** Tools of the newest list: they stay known while the server is away. */
  tools(): readonly ToolDefinition[]
  instructions(): string
  /** Waits for a connection, for at most `waitMs` if given, then rejects as `plugin_unavailable`. */
  connection(signal: AbortSignal, waitMs?: number): Promise<Connection>
  /** A call reports a dead connection. A new one is opened in the background. */
  lose(connection: Connection, error: Error): void
  close(): Promise<void>
}

export interface ServerLinkOptions
  extends Pick<OpenOptions, "workingDirectory" | "environment" | "onToolsChanged" | "onLog"> {
  readonly name: string
  readonly config: ServerConfig
  readonly clock: Clock
}

export function createServerLink(options: ServerLinkOptions): ServerLink {
  const { name, config, clock, onToolsChanged } = options
  const calls = createCallDesk()
  const scrub = createSecretScrubber(config.transport)
  const closing = new AbortController()
  const pace = createRetryPace(clock)
  const waiting = new Set<() => void>()
  let state: ServerState = config.disabled ? "disabled" : "connecting"
  let current: Connection | null = null
  let attempt: Promise<void> = Promise.resolve()
  let tools: readonly ToolDefinition[] = []
  let lastError: string | null = null

  function become(next: ServerState): void {
    state = next
    for (const wake of waiting) wake()
  }

  function fail(error: unknown): void {
    lastError = scrub(toErrorMessage(error))
    options.onLog("warning", `${name}: ${lastError}`)
    if (closing.signal.aborted) return
    become("unreachable")
    pace.schedule(() => void connect())
  }

  function connect(): Promise<void> {
    become("connecting")
    attempt = open().catch(fail)
    return attempt
  }

  async function open(): Promise<void> {
    const { openConnection } = await import("./open-connection.ts")
    const connection = await openConnection({
      ...options,
      transport: config.transport,
      timeoutMs: config.connectTimeoutMs,
      signal: closing.signal,
      onLog: (level, text) => options.onLog(level, `${name}: ${scrub(text)}`),
      onToolsChanged: () => void refresh(),
      onElicit: (params, taskId, signal) => calls.elicit(name, params, taskId, signal),
    })
    tools = await listOrClose(config, connection)
    if (closing.signal.aborted) return connection.close()
    current = connection
    pace.succeeded()
    void connection.closed.then(() => lose(connection, new Error("the connection was closed by the server")))
    become("connected")
    onToolsChanged()
  }

  async function refresh(): Promise<void> {
    const connection = current
    if (!connection) return
    try {
      tools = toOffered(config, await connection.listTools())
      onToolsChanged()
    } catch (error) {
      lastError = scrub(`its tools could not be listed: ${toErrorMessage(error)}`)
    }
  }

  function lose(connection: Connection, error: Error): void {
    if (current !== connection) return
    current = null
    void connection.close().catch(() => undefined)
    fail(error)
  }

  return {
    name,
    config,
    calls,
    scrub,
    start: () => (config.disabled ? Promise.resolve() : connect()),
    tools: () => tools,
    instructions: () => current?.instructions ?? "",
    status: () => ({
      name,
      state,
      generation: current?.generation ?? null,
      tools: tools.map((tool) => tool.name),
      lastError,
    }),
    lose,
    async connection(signal, waitMs) {
      // Null: no connection will ever come.
      const look = () => (state === "closed" || state === "disabled" ? null : (current ?? undefined))
      const found = await waitFor(look, waiting, { clock, timeoutMs: waitMs, signals: [signal] })
      signal.throwIfAborted()
      if (!found) throw toUnavailable(name, lastError ?? `it is ${state}`)
      return found
    },
    async close() {
      closing.abort()
      pace.cancel()
      become("closed")
      const connection = current
      current = null
      await connection?.close()
      await attempt
    },
  }
}

/** Every change wakes the callers that wait, so nothing is polled in between. */
async function waitFor<Found>(
  look: () => Found | undefined,
  waiting: Set<() => void>,
  limits: Pick<Watch<Found>, "clock" | "timeoutMs" | "signals">,
): Promise<Found | undefined> {
  const subscribe = (wake: () => void): (() => void) => {
    waiting.add(wake)
    return () => waiting.delete(wake)
  }
  const pollMs = Number.POSITIVE_INFINITY
  return (await lookUntil({ ...limits, subscribe, pollMs, look: async () => look() })) ?? look()
}

async function listOrClose(config: ServerConfig, connection: Connection): Promise<readonly ToolDefinition[]> {
  try {
    return toOffered(config, await connection.listTools())
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** Keeps the first of two tools with one name. */
function toOffered({ tools }: ServerConfig, listed: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const names = listed.map(({ name }) => name)
  return listed.filter(({ name }, index) => names.indexOf(name) === index && (tools?.includes(name) ?? true))
}

function toUnavailable(name: string, why: string): MeanwhileError {
  const message = `The MCP server ${name} cannot be reached: ${why}. See /mcp, and its entry in .mcp.json.`
  return new MeanwhileError("plugin_unavailable", message, { server: name })
}

const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 60_000
/** A connection that fails sooner than this is not stable: the next wait keeps growing. */
const WELL_AFTER_MS = 30_000

/** The back-off of a connection that keeps failing: longer each time, short again after a stable connection. */
function createRetryPace(clock: Clock) {
  let delayMs = FIRST_RETRY_MS
  let succeededAt: number | null = null
  let cancel = (): void => {}
  return {
    succeeded: () => {
      succeededAt = clock.monotonic()
    },
    /** One try is scheduled at a time. */
    schedule(retry: () => void) {
      if (succeededAt !== null && clock.monotonic() - succeededAt > WELL_AFTER_MS) delayMs = FIRST_RETRY_MS
      succeededAt = null
      cancel()
      cancel = clock.schedule(delayMs, retry, { isBackground: true })
      delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)
    },
    cancel: () => cancel(),
  }
}
