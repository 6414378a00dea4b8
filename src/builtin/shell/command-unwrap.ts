import { ASSIGNMENT, parseScript, type SimpleCommand } from "./shell-word.ts"

/** The command that really runs, behind prefixes such as `FOO=1 sudo nice npx`. */
export interface UnwrappedCommand extends Omit<SimpleCommand, "words"> {
  /** The program's name without its folder. */
  readonly program: string
  readonly rest: readonly string[]
}

export interface UnwrappedScript {
  readonly commands: readonly UnwrappedCommand[]
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

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh"])
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
  const program = toProgramName(path)
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
    const program = toProgramName(words[at] ?? "")
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

export function toProgramName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1)
}
