import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { MAIN, type ProgramPlace, toEnvironment } from "./driven-program.ts"

const run = promisify(execFile)

/** Resolves when the store has no live turn. The screen is no proof: the program shows the end of a turn before storing it. */
export async function untilIdle(place: ProgramPlace): Promise<void> {
  while ((await listTurns(place)).some(({ endedAt }) => endedAt === undefined));
}

interface ListedTask {
  readonly kind: string
  readonly endedAt?: number
}

async function listTurns(place: ProgramPlace): Promise<readonly ListedTask[]> {
  const words = [MAIN, "tasks", "list", "--all", "--json"]
  const { stdout } = await run(process.execPath, words, { cwd: place.directory, env: toEnvironment(place) })
  const lines = stdout.split("\n").filter((line) => line !== "")
  return lines.map((line) => JSON.parse(line) as ListedTask).filter(({ kind }) => kind === "turn")
}
