import type { Command } from "commander"

/** The commands that people mean by an option where it means nothing. */
const HINTS: Readonly<Record<string, string>> = {
  "--resume": ". To go on with a conversation without a chat: meanwhile run --session ID",
  "--concurrency": ": it is for a chat, a run or a worker",
}

/**
 * Commander accepts options of the program wherever they stand. A command that does not heed one, which its help
 * does not show either, refuses it.
 */
export function refuseForeignOption(program: Command, command: Command): void {
  if (command === program) return
  const shown = command.createHelp().visibleGlobalOptions(command)
  const given = program.options.filter((option) => program.getOptionValueSource(option.attributeName()) === "cli")
  const foreign = given.find((option) => !shown.includes(option))?.long
  if (foreign) command.error(`error: ${toWords(command)} has no option ${foreign}${HINTS[foreign] ?? ""}`)
}

function toWords(command: Command): string {
  return command.parent ? `${toWords(command.parent)} ${command.name()}` : command.name()
}
