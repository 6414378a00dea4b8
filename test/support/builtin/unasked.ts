import { spawn } from "node:child_process"
import { actFreely } from "../../../src/plugin/context.ts"
import { createRunCommand } from "../../../src/builtin/shell/run-command.ts"
import { createContext } from "./shell.ts"
import { parsed } from "../plugin/parsed.ts"

/** A longer command is stopped: it waits, as `tail -f` does. */
const LONGEST_MS = 400
const STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

export interface Attempt {
  readonly wasAsked: boolean
  /** All that it printed, if it ran. */
  readonly printed: string
}

export interface AttemptPlace {
  readonly cwd: string
  /** The environment of commands, beside a search path of standard folders. */
  readonly environment?: Readonly<Record<string, string>>
  /** Stops the command before it runs. */
  readonly signal?: AbortSignal
}

/** Runs a command as `run_command` does, if it would run without a question. */
export async function tryUnasked(command: string, place: AttemptPlace): Promise<Attempt> {
  const { cwd, environment = {}, signal = new AbortController().signal } = place
  const surroundings = { shell: "/bin/sh", environment: { PATH: STANDARD_PATH, ...environment }, extraPaths: [] }
  const tool = createRunCommand({ ...surroundings, workingDirectory: cwd })
  const call = parsed(tool.input, { command })
  if (typeof tool.effects !== "function" || tool.effects(call).length > 0) return { wasAsked: true, printed: "" }
  const { context, requests } = createContext("")
  await tool.run(call, { ...context, act: actFreely, signal })
  const [request] = requests
  if (!request) throw new Error("no process was started")
  const { argv, env } = request
  return { wasAsked: false, printed: await runToEnd(argv, cwd, env) }
}

function runToEnd(argv: readonly [string, ...string[]], cwd: string, env: Readonly<Record<string, string>>) {
  const [file, ...words] = argv
  return new Promise<string>((resolve, reject) => {
    const child = spawn(file, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: LONGEST_MS })
    let printed = ""
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (bytes: Buffer) => (printed += bytes.toString()))
    child.once("error", reject)
    child.once("close", () => resolve(printed))
  })
}
