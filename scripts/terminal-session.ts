import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { README_PATH, withSession } from "./terminal-session/readme.ts"
import { recordSession } from "./terminal-session/story.ts"

/** Prints the terminal session of the README as the program shows it now; with `--write` puts it there. */
const directory = mkdtempSync(join(tmpdir(), "meanwhile-session-"))
try {
  const session = await recordSession({ directory, environment: {} })
  if (process.argv.includes("--write"))
    writeFileSync(README_PATH, withSession(readFileSync(README_PATH, "utf8"), session))
  else process.stdout.write(`${session}\n`)
  rmSync(directory, { recursive: true, force: true })
} catch (error) {
  // Ends the command that has outlived its program. The folder stays, so that a person can look into it.
  writeFileSync(join(directory, "done.txt"), "")
  process.stderr.write(`What was recorded is in ${directory}\n`)
  throw error
}
