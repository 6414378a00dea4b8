import { execFile } from "node:child_process"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Runs a program with this Node in the folder; its standard output. Rejects, with what it printed, unless it exits with 0. */
export async function runProgram(path: string, cwd: string, nodeOptions: readonly string[] = []): Promise<string> {
  const { stdout } = await run(process.execPath, [...nodeOptions, path], { cwd, timeout: 240_000 })
  return stdout
}
