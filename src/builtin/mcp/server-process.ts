import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import { ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client"
import { toErrorMessage } from "../../base/error.ts"
import { systemCodeOf } from "../../base/system-error.ts"
import { carryTask } from "./carry-task.ts"

export interface ServerProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The server's whole environment. */
  readonly env: Readonly<Record<string, string>>
}

export interface ServerProcess extends Transport {
  /** By `pid` and `stderr` the client recognises a transport over pipes. */
  readonly pid: number | null
  readonly stderr: null
  /** The last line the server printed for people. */
  lastLine(): string
}

const STDIN_GRACE_MS = 1_000
const SIGTERM_GRACE_MS = 2_000
const KEPT_LINE_CHARACTERS = 300
/** How long to wait for the last line: a grandchild that left the group may keep the pipe open. */
const LAST_LINE_GRACE_MS = 500

/**
 * Runs a server as a child process in a process group of its own, which ends as a whole: a wrapper such as npx leaves
 * no process behind.
 */
export function createServerProcess({ command, args, cwd, env }: ServerProcessOptions): ServerProcess {
  const buffer = new ReadBuffer()
  let child: ChildProcessWithoutNullStreams | null = null
  let lastLine = ""
  let hasPrintedAll: Promise<unknown> = Promise.resolve()

  const transport: ServerProcess = {
    stderr: null,
    get pid() {
      return child?.pid ?? null
    },
    lastLine: () => lastLine,
    async start() {
      const started = spawn(command, args, { cwd, env, detached: true, windowsHide: true })
      child = started
      started.stdout.on("data", (chunk: Buffer) => readMessages(transport, buffer, chunk))
      started.stderr.on("data", (chunk: Buffer) => {
        const line = chunk.toString("utf8").trimEnd().split("\n").at(-1) ?? ""
        if (line.trim() !== "") lastLine = line.slice(0, KEPT_LINE_CHARACTERS)
      })
      hasPrintedAll = new Promise((resolve) => started.stderr.once("close", resolve))
      for (const stream of [started.stdin, started.stdout, started.stderr]) {
        stream.on("error", (error) => transport.onerror?.(error))
      }
      // The event is not "close": a grandchild that keeps the pipes open would keep the connection open.
      started.on("exit", () => {
        signalGroup(started, "SIGKILL")
        transport.onclose?.()
      })
      await once(started, "spawn").catch((error: unknown) => {
        throw new Error(describeStartProblem(error, { command, cwd }))
      })
      started.on("error", (error) => transport.onerror?.(error))
    },
    async send(message) {
      if (!child || hasExited(child)) throw new Error("Not connected")
      const hasRoom = child.stdin.write(serializeMessage(message))
      if (!hasRoom) await Promise.race([once(child.stdin, "drain"), once(child, "exit")])
    },
    async close() {
      if (child?.pid === undefined) return
      await endGroup(child)
      // The server's last line, which often says why it has ended, may come after its end.
      await isOver(hasPrintedAll, LAST_LINE_GRACE_MS)
    },
  }
  return transport
}

function describeStartProblem(error: unknown, { command, cwd }: Pick<ServerProcessOptions, "command" | "cwd">): string {
  const code = systemCodeOf(error)
  if (code === "ENOENT") return existsSync(cwd) ? `the program ${command} was not found` : `there is no folder ${cwd}`
  if (code === "EACCES") return `the program ${command} may not be executed`
  return `the program ${command} could not be started: ${toErrorMessage(error)}`
}

/** A line that is no message is reported and skipped; a message without end closes the connection. */
function readMessages(transport: ServerProcess, buffer: ReadBuffer, chunk: Buffer): void {
  try {
    buffer.append(chunk)
  } catch (error) {
    transport.onerror?.(error as Error)
    void transport.close()
    return
  }
  for (;;) {
    try {
      const message = buffer.readMessage()
      if (message === null) return
      transport.onmessage?.(carryTask(message))
    } catch (error) {
      transport.onerror?.(error as Error)
    }
  }
}

async function endGroup(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (hasExited(child)) return
  const exited = once(child, "exit")
  child.stdin.end()
  if (await isOver(exited, STDIN_GRACE_MS)) return
  signalGroup(child, "SIGTERM")
  if (await isOver(exited, SIGTERM_GRACE_MS)) return
  signalGroup(child, "SIGKILL")
  await exited
}

async function isOver(ending: Promise<unknown>, graceMs: number): Promise<boolean> {
  const grace = new AbortController()
  const over = await Promise.race([
    ending.then(() => true),
    pause(graceMs, false, { signal: grace.signal }).catch(() => false),
  ])
  grace.abort()
  return over
}

function hasExited({ exitCode, signalCode }: ChildProcessWithoutNullStreams): boolean {
  return exitCode !== null || signalCode !== null
}

function signalGroup({ pid }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // No process of the group is left.
  }
}
