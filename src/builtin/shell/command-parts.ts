import { redirectionEffects, toKnownName } from "./command-effects.ts"
import { readScript, type ScriptPart } from "./script-reading.ts"
import type { ShellWord } from "./shell-word.ts"
import { isHarmlessVariable } from "./variable-name.ts"
import { unwrapWords } from "./wrapped-words.ts"

const DEEPEST = 8
const PLAIN = /^[\w@%+=:,.~/-]+$/

/**
 * The commands that a call of `run_command` consists of, each as an input of its own: those of pipes, lists and
 * substitutions, those that `env`, `sh -c` and the like run, and files that are redirected to and variables that change
 * what programs do. Written with single spaces and without the folder of a program. Null when it cannot be read.
 */
export function commandParts(input: unknown): readonly unknown[] | null {
  if (typeof input !== "object" || input === null || !("command" in input)) return null
  if (typeof input.command !== "string") return null
  const texts = scriptTexts(input.command, 0)
  const names = "env" in input && typeof input.env === "object" ? Object.keys(input.env ?? {}) : []
  const variables = names.filter((name) => !isHarmlessVariable(name)).map((name) => `${name}=`)
  return texts && [...variables, ...texts].map((command) => ({ ...input, command }))
}

function scriptTexts(text: string, depth: number): readonly string[] | null {
  const parts = depth > DEEPEST ? undefined : readScript(text)
  return parts ? joinAll(parts.map((part) => partTexts(part, depth))) : null
}

function partTexts({ words, redirections }: ScriptPart, depth: number): readonly string[] | null {
  const files = redirections
    .filter((redirection) => redirectionEffects(redirection).length > 0)
    .map(({ operator, target }) => `${operator} ${quote(target)}`)
  const inner = wordTexts(words, depth)
  return inner && [...inner, ...files]
}

function wordTexts(words: readonly ShellWord[], depth: number): readonly string[] | null {
  const start = words.findIndex((word) => !word.isAssignment)
  const [first, ...rest] = start < 0 ? [] : words.slice(start)
  if (!first) return words.map(quote)
  const program = first.isExpanded ? undefined : toKnownName(first.word)
  const whole = [...words.slice(0, start).map(quote), program ?? quote(first), ...rest.map(quote)].join(" ")
  const wrapped = program === undefined ? undefined : unwrapWords(program, rest)
  if (!wrapped) return [whole]
  if (depth > DEEPEST) return null
  const commands = wrapped.commands.map((command) => wordTexts(command, depth + 1))
  const inner = joinAll([...commands, ...wrapped.scripts.map((script) => scriptTexts(script, depth + 1))])
  return inner && [whole, ...inner]
}

function joinAll(lists: readonly (readonly string[] | null)[]): readonly string[] | null {
  return lists.some((list) => list === null) ? null : lists.flatMap((list) => list ?? [])
}

/** So that a word with a space in it cannot pass for two. */
function quote({ word, isExpanded }: ShellWord): string {
  if (isExpanded) return /\s/.test(word) ? `"${word}"` : word
  return PLAIN.test(word) ? word : `'${word}'`
}
