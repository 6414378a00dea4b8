import type { Survivors } from "../task/stop.ts"

/** The command to run. It inherits nothing of Meanwhile's own environment that is not given here. */
export interface ProcessRequest {
  /** The program and its arguments: `["sh", "-c", command]` for shell text. */
  readonly argv: readonly [string, ...string[]]
  /** An absolute path. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export interface ProcessExit {
  /** Null when a signal ended it. */
  readonly exitCode: number | null
  /** The number of that signal. */
  readonly signal: number | null
  /** Processes it left alive outside its own process group. Those inside the group were stopped. */
  readonly survivors: Survivors
}

/** Runs programs under the runner's rules: own process group, output to the task's spool, stopped with the task. */
export interface ProcessPort {
  /** Resolves when the program has ended. After a restart the same call finds the same process and waits for it. */
  run(request: ProcessRequest): Promise<ProcessExit>
}
