import { toShellWord } from "../../base/shell-word.ts"
import type { GlobalOptions } from "./open-runtime.ts"

/** The command that starts the program again for the same store: a person can copy it from a hint. */
export function toProgramWords({ dataDir, engine }: Pick<GlobalOptions, "dataDir" | "engine">): string {
  const options = [
    ...(dataDir === undefined ? [] : ["--data-dir", toShellWord(dataDir)]),
    ...(engine === undefined ? [] : ["--engine", toShellWord(engine)]),
  ]
  return ["meanwhile", ...options].join(" ")
}
