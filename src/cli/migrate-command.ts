import { Command, InvalidArgumentError } from "commander"
import { migrateEngine } from "../program/engine.ts"
import { tellAside } from "./start/find-engine.ts"
import { plain } from "./format/format.ts"
import { addHelpNotes } from "./start/help-notes.ts"
import { showSharedOptions } from "./start/shared-options.ts"
import { withWaitExit } from "./start/wait-exit.ts"

const AFTER = `
A start does this by itself when its role may change tables. Where programs run with a role that may not, run it once for each version with one that may, and name the other:
  meanwhile migrate --engine postgres://OWNER@host/database --grant ROLE
Several may run it at once: one does it.
The password comes from MEANWHILE_ENGINE, PGPASSWORD, ~/.pgpass or the configuration.`

/** `meanwhile migrate`: for people whose programs may not change tables. */
export function createCommand(): Command {
  const migrate = new Command("migrate")
    .description("bring a store on PostgreSQL to this version")
    .option("--grant <role>", "let this role use the store, without the right to change its tables", toRole)
    .action(async (_, command: Command) => {
      const { engine, grant } = command.optsWithGlobals<{ engine?: string; grant?: string }>()
      const lines = await withWaitExit(tellAside, (tell) =>
        migrateEngine({
          workingDirectory: process.cwd(),
          environment: process.env,
          tell,
          ...(engine !== undefined && { engine }),
          ...(grant !== undefined && { grantTo: grant }),
        }),
      )
      for (const line of lines) process.stdout.write(`${plain(line)}\n`)
    })
  return showSharedOptions(addHelpNotes(migrate, AFTER), ["--engine"])
}

/** Refuses an empty word, which a script may hand on. */
function toRole(word: string): string {
  if (word.trim() === "") throw new InvalidArgumentError("It is empty. Name the role that the programs run with.")
  return word
}
