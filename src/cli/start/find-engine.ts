import { plain } from "../format/format.ts"
import type { GlobalOptions } from "./open-runtime.ts"

/** The store of this folder, for commands that do not open the whole runtime. Empty: the store in the data folder. */
export async function findEngine({ engine, trust }: GlobalOptions): Promise<{ readonly engine?: string }> {
  const { findEngineUrl } = await import("../../program/engine.ts")
  const url = await findEngineUrl({
    workingDirectory: process.cwd(),
    environment: process.env,
    trust: trust === true,
    notify: tellAside,
    ...(engine !== undefined && { engine }),
  })
  return url === undefined ? {} : { engine: url }
}

/** Prints to standard error: standard output is for the answer alone. */
export function tellAside(line: string): void {
  process.stderr.write(`${plain(line)}\n`)
}
