import { spawn } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { text } from "node:stream/consumers"
import { stripVTControlCharacters } from "node:util"
import { spawn as spawnInTerminal } from "@lydell/node-pty"
import { onTestFinished } from "vitest"
import { eventually } from "./eventually.ts"
import { createOwnEnvironment } from "./own-environment.ts"
import { onStartedInTerminal } from "./processes.ts"
import { withPatience } from "./patience.ts"
import { builtProgram } from "./built-program.ts"

/** Programs wait for servers, which alone can take half a minute on a busy machine. */
const PATIENCE_MS = 90_000
const MAIN = builtProgram("cli/main")

export interface RunningProgram {
  readonly pid: number
  /** Everything that the program has shown so far. */
  shown(): string
  type(line: string): void
  /** Resolves with everything shown, once the text since the last match fits the pattern. */
  shows(pattern: RegExp): Promise<string>
  /** Resolves with the exit code. A wait in vain fails with what the program has shown. */
  readonly exited: Promise<number | null>
}

export interface ProgramSettings {
  readonly directory: string
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** The encoding of the output of `runToEnd`. Default: utf8. */
  readonly encoding?: "utf8" | "latin1"
  /** Default false: a store that the test has put there is the person's own. True: it is as if somebody had sent it. */
  readonly isDataForeign?: boolean
  /** In a terminal: a script for a shell with job control, which starts the program by `"$@"`. Default: no shell. */
  readonly shell?: string
}

/** The real program, with a pipe as its input. */
export function startPiped(
  settings: ProgramSettings,
): RunningProgram & { endInput(): void; kill(signal: NodeJS.Signals): void } {
  const child = spawn(process.execPath, [MAIN, ...(settings.arguments ?? [])], {
    cwd: settings.directory,
    env: toEnvironment(settings),
  })
  let shown = ""
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (shown += text))
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve))
  onTestFinished(() => void child.kill("SIGKILL"))
  return {
    pid: child.pid ?? 0,
    get exited() {
      return withPatience(exited, () => `The program has not ended. It has shown:\n${shown}`)
    },
    ...createReader(() => shown),
    type: (line) => child.stdin.write(`${line}\n`),
    endInput: () => child.stdin.end(),
    kill: (signal) => void child.kill(signal),
  }
}

/** The real program, run to its end with this as its whole input. */
export async function runToEnd(
  settings: ProgramSettings,
  input = "",
): Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [MAIN, ...(settings.arguments ?? [])], {
    cwd: settings.directory,
    env: toEnvironment(settings),
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  child.stdin.on("error", () => {})
  child.stdout.setEncoding(settings.encoding ?? "utf8")
  child.stdin.end(input)
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve))
  const words = (settings.arguments ?? []).join(" ")
  const [stdout, stderr, exitCode] = await withPatience(
    Promise.all([text(child.stdout), text(child.stderr), exited]),
    () => `\`meanwhile ${words}\` has not ended.`,
  )
  return { exitCode, stdout, stderr }
}

/** The real program in a real terminal of 100 columns. What it has shown is read without colours and cursor movements. */
export function startInTerminal(settings: ProgramSettings): RunningProgram & {
  press(keys: string): void
  /** As `shows`, for a question: resolves once what is typed answers it. */
  asks(pattern: RegExp): Promise<void>
  raw(): string
  closeWindow(): void
} {
  const words = [process.execPath, MAIN, ...(settings.arguments ?? [])]
  const [file = "", ...rest] = settings.shell === undefined ? words : ["sh", "-c", settings.shell, "sh", ...words]
  const terminal = spawnInTerminal(file, rest, {
    cols: 100,
    rows: 30,
    cwd: settings.directory,
    env: toEnvironment(settings),
  })
  onStartedInTerminal()
  let shown = ""
  let hasExited = false
  terminal.onData((text) => (shown += text))
  const exited = new Promise<number | null>((resolve) =>
    terminal.onExit(({ exitCode }) => {
      hasExited = true
      resolve(exitCode)
    }),
  )
  onTestFinished(() => {
    if (!hasExited) terminal.kill("SIGKILL")
  })
  const reader = createReader(() => stripVTControlCharacters(shown))
  return {
    pid: terminal.pid,
    get exited() {
      return withPatience(exited, () => `The program has not ended. It has shown:\n${reader.shown()}`)
    },
    ...reader,
    type: (line) => terminal.write(`${line}\r`),
    press: (keys) => terminal.write(keys),
    async asks(pattern) {
      await reader.shows(pattern)
      await reader.shows(/\? (?!waiting)/)
    },
    raw: () => shown,
    closeWindow() {
      if (isDestroyable(terminal)) terminal.destroy()
    },
  }
}

/** Every terminal has `destroy`, which its type leaves out. */
function isDestroyable(terminal: object): terminal is { destroy(): void } {
  return "destroy" in terminal
}

/** For `environment`: the program asks before calls that have an effect, as it does for people. */
export const ASKING = { MEANWHILE_PERMISSIONS_MODE: "default" }

/** Without a question for each call, unless a test is about questions. */
function toEnvironment(settings: ProgramSettings): Record<string, string> {
  const { directory, environment = {}, isDataForeign = false } = settings
  const trusted = isDataForeign ? {} : trustData(settings)
  // Most tests leave a chat while work may be under way, and are about something else than the question that is asked then.
  const answered = { MEANWHILE_PERMISSIONS_MODE: "allow_all", MEANWHILE_ON_EXIT: "keep" }
  const usual = { TERM: "xterm", MEANWHILE_TEST: directory, ...answered }
  return createOwnEnvironment(directory, { ...usual, ...trusted, ...environment })
}

/** Agrees to a store that is there before the program starts: no program of this HOME may have made it. */
function trustData({ directory, arguments: words = [] }: ProgramSettings): Record<string, string> {
  const named = words[words.indexOf("--data-dir") + 1] ?? ""
  const folder = resolve(directory, words.includes("--data-dir") ? named : ".meanwhile")
  if (!existsSync(join(folder, "store.sqlite"))) return {}
  const path = join(folder, "folder-id")
  if (!existsSync(path)) writeFileSync(path, `${crypto.randomUUID()}\n`)
  return { MEANWHILE_TRUST_DATA: readFileSync(path, "utf8").trim() }
}

function createReader(shown: () => string) {
  let position = 0
  return {
    shown,
    async shows(pattern: RegExp): Promise<string> {
      const look = () => pattern.exec(shown().slice(position))
      const match = await eventually(`the program shows ${pattern}`, look, PATIENCE_MS).catch((error: unknown) => {
        throw new Error(`It has shown only:\n${shown().slice(position)}`, { cause: error })
      })
      position += match.index + match[0].length
      return match[0]
    },
  }
}
