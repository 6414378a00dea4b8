import type { Command } from "commander"

/** The options of the program that name the store. */
export const STORE_OPTIONS = ["--engine", "--data-dir"] as const

/** Help of a command, and of those below it, shows these options of the program too. */
export function showSharedOptions(command: Command, names: readonly string[]): Command {
  for (const below of command.commands) showSharedOptions(below, names)
  return command.configureHelp({
    showGlobalOptions: true,
    visibleGlobalOptions: (shown) => findProgram(shown).options.filter(({ long }) => names.includes(long ?? "")),
  })
}

function findProgram(command: Command): Command {
  return command.parent ? findProgram(command.parent) : command
}
