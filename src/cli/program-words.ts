import { toShellWord } from "../base/shell-word.ts"
import type { GlobalOptions } from "./open-runtime.ts"

/** How the program is called again for the same store: what a person can copy from a hint. */
export function toProgramWords({ dataDir, engine }: Pick<GlobalOptions, "dataDir" | "engine">): string {
  const options = [
    ...(dataDir === undefined ? [] : ["--data-dir", toShellWord(dataDir)]),
    ...(engine === undefined ? [] : ["--engine", toShellWord(engine)]),
  ]
  return ["meanwhile", ...options].join(" ")
}
