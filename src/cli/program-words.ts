import type { GlobalOptions } from "./open-runtime.ts"

/** How the program is called again for the same store: what a person can copy from a hint. */
export function toProgramWords({ dataDir, engine }: Pick<GlobalOptions, "dataDir" | "engine">): string {
  const options = [
    ...(dataDir === undefined ? [] : ["--data-dir", quote(dataDir)]),
    ...(engine === undefined ? [] : ["--engine", quote(engine)]),
  ]
  return ["meanwhile", ...options].join(" ")
}

/** As a shell reads it as one word. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
