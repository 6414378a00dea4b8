import { isStarter } from "./command-parts.ts"
import { readPlainCommand } from "./plain-command.ts"

/** Not one with a path: the same name elsewhere may be another program. */
const PROGRAM = /^[\w.+-]{1,40}$/
const ARGUMENT = /^[\w./@:+%=,-]+$/
/** A program with the first word by which it starts any other. */
const STARTING = /^(?:\S+ (?:exec|dlx)|(?:npm|pnpm|yarn|bun) x)$/
const ANY = "…"

/**
 * What a person may allow once for all commands that have it: the same program, options and operands, in the same order.
 * Undefined for anything but one program with plain words, and for programs that start others.
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
  const { path = "", program = "", rest = [] } = readPlainCommand(command) ?? {}
  const firstWord = rest.find((word) => !word.startsWith("-")) ?? ""
  if (!PROGRAM.test(path) || isStarter(program) || STARTING.test(`${program} ${firstWord}`)) return undefined
  return [program, ...(withoutVarying(program, rest) ?? rest.map(toQuoted))].join(" ")
}

/** A word in quotes where it could be taken for something else. */
const toQuoted = (word: string): string => (ARGUMENT.test(word) ? word : JSON.stringify(word))

/** Names of tests, of which `cargo` only runs those that it would run without them. */
const FILTERS = /^(?:test|t)(?: [\w:]+)*$/
const COMMIT_FLAGS = /^(?:-a|-q|-s|--all|--quiet|--signoff|--no-edit|--amend)$/

/**
 * The words of the few commands of which an operand may be any. Contract: what stands in its place changes neither what
 * the command runs, nor what it writes to, nor where it sends it.
 */
function withoutVarying(program: string, rest: readonly string[]): readonly string[] | undefined {
  if (program === "cargo" && FILTERS.test(rest.join(" "))) return [rest[0] ?? "", ANY]
  if (program === "git" && rest[0] === "commit") return withoutMessage(rest)
  return undefined
}

/** `git commit` with nothing but flags and one message. */
function withoutMessage(rest: readonly string[]): readonly string[] | undefined {
  const [message = "-"] = rest.slice(-1)
  const [option = ""] = rest.slice(-2)
  const flags = rest.slice(1, -2)
  const isMessage = /^-a?m$/.test(option) && !message.startsWith("-")
  return isMessage && flags.every((word) => COMMIT_FLAGS.test(word)) ? [...rest.slice(0, -1), ANY] : undefined
}
