import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { createOwnEnvironment } from "../own-environment.ts"
import { withPatience } from "../patience.ts"

const IDLE = '"idle":true'
const AFTER_IDLE_MS = 200

/** A program under test: its lines as they come, and its end. A wait in vain for a line fails with the lines that came. */
export interface Child {
  readonly process: ChildProcess
  /** The lines that the program has printed on standard output, and one more for an exit code other than 0. */
  readonly lines: readonly string[]
  readonly exited: Promise<void>
  /** Resolves once the program has printed `count` lines, or has ended. */
  reached(count: number): Promise<void>
  /** Resolves once the program has printed `count` lines, has ended, or answered its last command 200 ms ago. */
  reachedOrIdle(count: number): Promise<void>
  /** Resolves once a line contains the text, or the program has ended. */
  said(text: string): Promise<void>
  send(line: string): void
  /** SIGKILL to the program itself, and to nothing that it started. Resolves when the program has ended. */
  kill(): Promise<void>
}

export interface ChildOptions {
  readonly program: string
  readonly parameters: readonly string[]
  readonly directory: string
  readonly environment?: Readonly<Record<string, string>>
}

export function startChild({ program, parameters, directory, environment = {} }: ChildOptions): Child {
  const child = spawn(process.execPath, [program, ...parameters], {
    cwd: directory,
    env: createOwnEnvironment(directory, environment),
    stdio: ["pipe", "pipe", "pipe"],
  })
  const lines: string[] = []
  const errors: string[] = []
  const listeners = new Set<() => void>()
  const { promise: exited, resolve: onExited } = Promise.withResolvers<void>()
  let hasExited = false

  const wake = (): void => {
    for (const listener of listeners) listener()
  }
  function until(what: string, isReached: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    function look(): void {
      if (hasExited || isReached()) resolve()
    }
    listeners.add(look)
    look()
    const describe = (): string => `process ${child.pid} ${what}:\n${[...lines, ...errors].join("\n")}`
    return withPatience(promise, describe).finally(() => listeners.delete(look))
  }

  const reached = (count: number): Promise<void> => until(`has not said ${count} lines`, () => lines.length >= count)
  const said = (text: string): Promise<void> =>
    until(`has not said ${text}`, () => lines.some((line) => line.includes(text)))

  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line)
    wake()
  })
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line))
  child.stdin.on("error", () => {})
  child.once("close", (code, signal) => {
    hasExited = true
    if (code !== 0 && signal === null) lines.push(`exited with ${code}: ${errors.join("\n")}`)
    wake()
    onExited()
  })

  return {
    process: child,
    lines,
    exited,
    reached,
    said,
    reachedOrIdle: (count) => Promise.race([reached(count), said(IDLE).then(() => sleep(AFTER_IDLE_MS))]),
    send: (line) => void child.stdin.write(`${line}\n`),
    async kill() {
      child.kill("SIGKILL")
      await exited
    },
  }
}
