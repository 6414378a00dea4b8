import { ASSIGNMENT, parseScript, type SimpleCommand, type ShellWord } from "./shell-word.ts"
import { redirectionEffects, toKnownName } from "./command-effects.ts"
import { readScript, type ScriptPart } from "./script-reading.ts"
import { isHarmlessVariable } from "./variable-name.ts"
import { SHELLS, unwrapWords } from "./wrapped-words.ts"

/** The command that really runs, behind prefixes such as `FOO=1 sudo nice npx`. */
export interface PlainCommand extends Omit<SimpleCommand, "words"> {
  /** The program's name without its folder. */
  readonly program: string
  readonly rest: readonly string[]
}

export interface UnwrappedScript {
  readonly commands: readonly PlainCommand[]
  readonly isWhole: boolean
}

/** Programs that only run another one, with those of their options that take the next word as a value. */
const WRAPPERS: Readonly<Record<string, { readonly valued?: string; readonly positionals?: number }>> = {
  sudo: { valued: "-u -g -h -p -C -D -R -T -U" },
  doas: { valued: "-u -C" },
  env: { valued: "-u -C --unset --chdir" },
  nice: { valued: "-n" },
  ionice: { valued: "-c -n -p" },
  time: { valued: "-f -o" },
  nohup: {},
  setsid: {},
  command: {},
  builtin: {},
  exec: { valued: "-a" },
  stdbuf: { valued: "-i -o -e" },
  timeout: { valued: "-s -k --signal --kill-after", positionals: 1 },
  npx: { valued: "-p --package" },
  pnpx: {},
  bunx: {},
  caffeinate: { valued: "-t -w" },
}

/** First words by which a program runs another one: `poetry run pytest`, `python -m pytest`. */
const WRAPPING_WORDS: Readonly<Record<string, readonly string[]>> = {
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx"],
  bun: ["x"],
  poetry: ["run"],
  pipenv: ["run"],
  uv: ["run"],
  bundle: ["exec"],
  python: ["-m"],
  python3: ["-m"],
}

const DEEPEST = 4

export function unwrapScript(text: string, depth = 0): UnwrappedScript {
  const { commands, isWhole } = parseScript(text)
  const unwrapped = commands.map((command) => unwrapCommand(command, depth))
  return {
    commands: unwrapped.flatMap((inner) => inner.commands),
    isWhole: isWhole && unwrapped.every((inner) => inner.isWhole),
  }
}

function unwrapCommand({ words, follows, isDetached }: SimpleCommand, depth: number): UnwrappedScript {
  const start = skipWrappers(words)
  const [path, ...rest] = words.slice(start)
  if (path === undefined) return { commands: [], isWhole: true }
  const program = toProgram(path)
  const script = SHELLS.has(program) ? scriptOf(rest) : undefined
  if (script === undefined || depth >= DEEPEST) {
    return { commands: [{ program, rest, follows, isDetached }], isWhole: true }
  }
  const inner = unwrapScript(script, depth + 1)
  const commands = inner.commands.map((command, index) => ({
    ...command,
    follows: index === 0 ? follows : command.follows,
    isDetached: isDetached || command.isDetached,
  }))
  return { commands, isWhole: inner.isWhole }
}

/** How many words stand before the program that does the work. */
function skipWrappers(words: readonly string[]): number {
  let at = skipAssignments(words, 0)
  for (;;) {
    const program = toProgram(words[at] ?? "")
    const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined
    const wrapping = Object.hasOwn(WRAPPING_WORDS, program) ? WRAPPING_WORDS[program] : undefined
    if (wrapper) at = skipOptions(words, at + 1, wrapper.valued ?? "") + (wrapper.positionals ?? 0)
    else if (wrapping?.includes(words[at + 1] ?? "")) at = skipOptions(words, at + 2, "")
    else return at
  }
}

function skipOptions(words: readonly string[], start: number, valued: string): number {
  const takesValue = new Set(valued.split(" "))
  let at = start
  while (words[at]?.startsWith("-")) at += takesValue.has(words[at] ?? "") ? 2 : 1
  return skipAssignments(words, at)
}

function skipAssignments(words: readonly string[], start: number): number {
  let at = start
  while (ASSIGNMENT.test(words[at] ?? "")) at++
  return at
}

/** The text of `sh -c TEXT`. */
function scriptOf(rest: readonly string[]): string | undefined {
  const at = rest.findIndex((word) => /^-[a-z]*c$/.test(word))
  return at < 0 ? undefined : rest[at + 1]
}

function toProgram(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1)
}

const DEEPEST_NESTING = 8
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
  const parts = depth > DEEPEST_NESTING ? undefined : readScript(text)
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
  if (depth > DEEPEST_NESTING) return null
  const commands = wrapped.commands.map((command) => wordTexts(command, depth + 1))
  const inner = joinAll([...commands, ...wrapped.scripts.map((script) => scriptTexts(script, depth + 1))])
  return inner && [whole, ...inner]
}

function joinAll(lists: readonly (readonly string[] | null)[]): readonly string[] | null {
  return lists.some((list) => list === null) ? null : lists.flatMap((list) => list ?? [])
}

/** Quotes a word, so that one with a space in it cannot pass for two. */
function quote({ word, isExpanded }: ShellWord): string {
  if (isExpanded) return /\s/.test(word) ? `"${word}"` : word
  return PLAIN.test(word) ? word : `'${word}'`
}
