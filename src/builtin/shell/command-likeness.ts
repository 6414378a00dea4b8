import { classifyCommand } from "./command-category.ts"
import { commandEffects } from "./command-effects.ts"
import { readScript } from "./script-reading.ts"

const PROGRAM = /^[\w.+-]{1,40}$/
const ARGUMENT = /^[\w./@:+-]{1,80}$/

/**
 * What a person may allow once for all commands that begin alike: `npm test`, `git push`, `node build.js`. Undefined
 * for anything but one program with plain words, and for one whose first words do not tell what it does.
 */
export function commandLikeness(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !("command" in input)) return undefined
  if (typeof input.command !== "string" || ("env" in input && input.env !== undefined)) return undefined
  const [part, ...others] = readScript(input.command) ?? []
  if (!part || others.length > 0 || part.redirections.length > 0) return undefined
  if (part.words.some((word) => word.isExpanded || word.isAssignment)) return undefined
  const [program = "", ...rest] = part.words.map(({ word }) => word)
  if (!PROGRAM.test(program)) return undefined
  const { subcommands } = classifyCommand({ program, rest, follows: "sequence", isDetached: false })
  if (subcommands.length > 0) return [program, ...subcommands].join(" ")
  if (!commandEffects(input.command).includes("unknown")) return program
  const [argument = ""] = rest
  return ARGUMENT.test(argument) && !argument.startsWith("-") ? `${program} ${argument}` : undefined
}
