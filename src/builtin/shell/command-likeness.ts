import { classifyCommand } from "./command-category.ts"
import { commandEffects } from "./command-effects.ts"
import { readScript } from "./script-reading.ts"
import { unwrapWords } from "./wrapped-words.ts"

const PROGRAM = /^[\w.+-]{1,40}$/
const ARGUMENT = /^[\w./@:+-]{1,80}$/
const EVALUATORS = new Set(["eval", "source", "."])
/** Subcommands after which the name of another program or script follows. */
const RUNNERS = new Set(["run", "exec", "dlx", "x"])

/**
 * The prefix that a person may allow once for all commands that begin alike: `npm test`, `git push`, `node build.js`.
 * Undefined for anything but one program with plain words, and for one whose first words do not tell what it does:
 * `timeout 5` and `sudo` run anything, and `make -f` anything of anybody.
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
  const [part, ...others] = readScript(command) ?? []
  if (!part || others.length > 0 || part.redirections.length > 0) return undefined
  if (part.words.some((word) => word.isExpanded || word.isAssignment)) return undefined
  const [program = "", ...rest] = part.words.map(({ word }) => word)
  const runsAnything = EVALUATORS.has(program) || unwrapWords(program, part.words.slice(1)) !== undefined
  if (!PROGRAM.test(program) || runsAnything) return undefined
  const { subcommands } = classifyCommand({ program, rest, follows: "sequence", isDetached: false })
  if (subcommands.length > 0) return toBeginning(program, rest, subcommands)
  return commandEffects(command).includes("unknown") ? toBeginning(program, rest, rest.slice(0, 1)) : program
}

/** The words must be the first ones: an option before them can change what they mean. */
function toBeginning(program: string, rest: readonly string[], words: readonly string[]): string | undefined {
  const isRunner = RUNNERS.has(words.at(-1) ?? "")
  const beginning = isRunner ? [...words, rest[words.length] ?? ""] : words
  const isFirst = words.every((word, index) => word === rest[index])
  const isPlain = beginning.length > 0 && beginning.every((word) => ARGUMENT.test(word) && !word.startsWith("-"))
  return isFirst && isPlain ? [program, ...beginning].join(" ") : undefined
}
