import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { recordSession } from "./terminal-session/story.ts"
import { README_PATH, withSession } from "./terminal-session/readme.ts"

/** Prints the terminal session of the README as the program shows it now; with `--write` puts it there. */
const directory = mkdtempSync(join(tmpdir(), "meanwhile-session-"))
try {
  const session = await recordSession({ directory, environment: {} })
  if (process.argv.includes("--write"))
    writeFileSync(README_PATH, withSession(readFileSync(README_PATH, "utf8"), session))
  else process.stdout.write(`${session}\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
