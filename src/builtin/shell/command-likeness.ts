import { classifyCommand } from "./command-forecast.ts"
import { commandEffects } from "./command-effects.ts"
import { isStarter } from "./command-parts.ts"
import { readPlainCommand } from "./plain-command.ts"

const PROGRAM = /^[\w.+-]{1,40}$/
const ARGUMENT = /^[\w./@:+-]{1,80}$/
/** The subcommand after which the name of a script of the project follows, and those that start any program. */
const RUNNER = "run"
const STARTERS = new Set(["exec", "dlx", "x"])
/** Words that may change what a command does: options, assignments, addresses, references to files. */
const TELLING = /^[-+@]|[=:]/

/**
 * The beginning and the options that a person may allow once for all commands that have them: `npm test`, `git push
 * --tags`. Undefined for anything but one program with plain words, and for one whose first words do not tell what it
 * does: `timeout 5` and `sudo` run anything, and `make -f` runs any file.
 */
export function commandLikeness(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !("command" in input)) return undefined
  if (typeof input.command !== "string" || ("env" in input && input.env !== undefined)) return undefined
  const likeness = textLikeness(input.command)
  const isElsewhere = "cwd" in input && input.cwd !== undefined && input.cwd !== "."
  // The same words do something else in another folder, which may have scripts of its own.
  return likeness !== undefined && isElsewhere ? `${likeness} (in ${JSON.stringify(input.cwd)})` : likeness
}

function textLikeness(command: string): string | undefined {
  const { program = "", rest = [] } = readPlainCommand(command) ?? {}
  if (!PROGRAM.test(program) || isStarter(program)) return undefined
  const { subcommands } = classifyCommand({ program, rest, follows: "sequence", isDetached: false })
  const isKnown = !commandEffects(command).includes("unknown")
  const first = subcommands.length > 0 || isKnown ? subcommands : rest.slice(0, 1)
  const beginning = toBeginning(rest, first, isKnown)
  if (beginning === undefined) return undefined
  return [program, ...beginning, ...toTelling(rest.slice(beginning.length))].join(" ")
}

/** The words in which similar commands may not differ, with the words behind options, which may be their values. */
function toTelling(words: readonly string[]): readonly string[] {
  return words
    .filter((word, index) => TELLING.test(word) || /^-[^=]*$/.test(words[index - 1] ?? ""))
    .map((word) => (/\s/.test(word) ? JSON.stringify(word) : word))
}

/** The words must be the first ones: an option before them can change what they mean. */
function toBeginning(
  rest: readonly string[],
  words: readonly string[],
  mayBeEmpty: boolean,
): readonly string[] | undefined {
  const last = words.at(-1) ?? ""
  if (STARTERS.has(last)) return undefined
  const beginning = last === RUNNER ? [...words, rest[words.length] ?? ""] : words
  const isFirst = words.every((word, index) => word === rest[index])
  const isPlain = beginning.every((word) => ARGUMENT.test(word) && !word.startsWith("-"))
  return isFirst && isPlain && (mayBeEmpty || beginning.length > 0) ? beginning : undefined
}
