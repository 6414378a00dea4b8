import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { spawn } from "@lydell/node-pty"
import { createTerminalText } from "./terminal-text.ts"

export const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url))
const COLUMNS = 100
const ROWS = 40
const LOOK_EVERY_MS = 10
const PATIENCE_MS = 60_000

export interface ProgramPlace {
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
}

/** The real program in a real terminal, typed at by a script. */
export interface DrivenProgram {
  type(line: string): void
  /** Resolves with the lines from the match on, once they are on the screen below the last match. */
  shows(pattern: RegExp): Promise<RegExpExecArray>
  /** Kills the program as a crash would: it cannot clean up. */
  kill(): Promise<void>
  /** Resolves when it has ended by itself. */
  ended(): Promise<void>
  lines(): readonly string[]
}

/** The environment: no colours, and the program's own folder as its home. */
export function toEnvironment({ directory, environment }: ProgramPlace): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: directory, TERM: "xterm", NO_COLOR: "1", ...environment }
}

export function startProgram(words: readonly string[], place: ProgramPlace): DrivenProgram {
  const text = createTerminalText(COLUMNS)
  const terminal = spawn(process.execPath, [MAIN, ...words], {
    cols: COLUMNS,
    rows: ROWS,
    cwd: place.directory,
    env: toEnvironment(place),
  })
  let seen = 0
  terminal.onData((data) => text.write(data))
  const exited = new Promise<void>((resolve) => terminal.onExit(() => resolve()))

  return {
    type: (line) => terminal.write(`${line}\r`),
    async shows(pattern) {
      const deadline = performance.now() + PATIENCE_MS
      for (;;) {
        const shown = text.lines().join("\n")
        const match = pattern.exec(shown.slice(seen))
        if (match) {
          seen += match.index + match[0].length
          return match
        }
        if (performance.now() > deadline) throw new Error(`The program did not show ${pattern}. It shows:\n${shown}`)
        await pause(LOOK_EVERY_MS)
      }
    },
    async kill() {
      terminal.kill("SIGKILL")
      await exited
    },
    ended: () => exited,
    lines: () => text.lines(),
  }
}
