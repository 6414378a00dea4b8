import type { Effect } from "../../plugin/effect.ts"
import type { ShellWord } from "./shell-word.ts"

/** The command that a wrapping program runs, and the wrapper's own effects. */
export interface WrappedWords {
  readonly effects: readonly Effect[]
  readonly commands: readonly (readonly ShellWord[])[]
  readonly scripts: readonly string[]
}

interface WrapperRule {
  /** Options that stand alone and those that take the next word. Any other makes the command unknown. */
  readonly flags: RegExp
  readonly valued: RegExp
  /** Words before the command. */
  readonly positionals?: number
  readonly effects?: readonly Effect[]
}

const NONE = /^$/
const NOTHING: WrappedWords = { effects: [], commands: [], scripts: [] }
const toUnknown = (...effects: readonly Effect[]): WrappedWords => ({ ...NOTHING, effects: [...effects, "unknown"] })

const WRAPPERS: Readonly<Record<string, WrapperRule>> = {
  builtin: { flags: NONE, valued: NONE },
  command: { flags: /^-p$/, valued: NONE },
  doas: { flags: /^-n$/, valued: /^-u$/, effects: ["run_as"] },
  env: { flags: /^(?:-i|-0|-)$/, valued: /^-[uC]$/ },
  exec: { flags: /^-[cl]$/, valued: /^-a$/ },
  ionice: { flags: /^-(?:t|c\d|n\d)$/, valued: /^-[cn]$/ },
  nice: { flags: /^-n?\d+$/, valued: /^-n$/ },
  nohup: { flags: NONE, valued: NONE },
  setsid: { flags: /^-[cfw]$/, valued: NONE },
  stdbuf: { flags: /^-[ioe]\w+$/, valued: /^-[ioe]$/ },
  sudo: { flags: /^-[EHnkSb]+$/, valued: /^-[ugpCT]$/, effects: ["run_as"] },
  time: { flags: /^-p$/, valued: NONE },
  timeout: { flags: /^(?:-v|--foreground|--preserve-status|-[sk]\w+)$/, valued: /^-[sk]$/, positionals: 1 },
  xargs: { flags: /^-(?:[0rtx]+|[nPLs]\d+|d.+|I.+)$/, valued: /^-[nPLsdI]$/ },
}

export const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh"])
const FIND_RUNS = new Set(["-exec", "-execdir", "-ok", "-okdir"])

/** Undefined when the program runs no other one. */
export function unwrapWords(program: string, rest: readonly ShellWord[]): WrappedWords | undefined {
  if (SHELLS.has(program)) return unwrapShell(rest)
  if (program === "find") return unwrapFind(rest)
  if (program === "su" || program === "runuser" || program === "pkexec") return toUnknown("run_as")
  if (program === "command" && /^-[vV]$/.test(rest[0]?.word ?? "")) return NOTHING
  const rule = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined
  return rule && unwrapByRule(program, rule, rest)
}

function unwrapByRule(program: string, rule: WrapperRule, rest: readonly ShellWord[]): WrappedWords {
  const { effects = [], positionals = 0 } = rule
  const unreadable = toUnknown(...effects)
  let at = 0
  let placeholder: string | undefined
  for (let word = rest[at]; word?.word.startsWith("-") && word.word !== "--"; word = rest[at]) {
    const isFlag = rule.flags.test(word.word)
    const isValued = !isFlag && rule.valued.test(word.word) && rest[at + 1]?.isExpanded === false
    if (word.isExpanded || !(isFlag || isValued)) return unreadable
    if (word.word.startsWith("-I")) placeholder = word.word.slice(2) || rest[at + 1]?.word
    at += isFlag ? 1 : 2
  }
  if (rest[at]?.word === "--") at++
  if (rest.slice(at, at + positionals).some((word) => word.isExpanded)) return unreadable
  const command = rest.slice(at + positionals)
  // Without a command `sudo` may open a shell; `env`, `exec` and the like do nothing to the world.
  if (command.length === 0) return effects.length > 0 ? unreadable : NOTHING
  return { effects, commands: [program === "xargs" ? withInput(command, placeholder) : command], scripts: [] }
}

/** Input of xargs becomes arguments, or replaces the placeholder wherever it stands. */
function withInput(command: readonly ShellWord[], placeholder: string | undefined): readonly ShellWord[] {
  const input: ShellWord = {
    word: "{}",
    isPlain: true,
    isAssignment: false,
    isExpanded: true,
    isDoubtful: false,
    scripts: [],
  }
  if (placeholder === undefined) return [...command, input]
  return command.map((word) => (word.word.includes(placeholder) ? { ...word, isExpanded: true } : word))
}

function unwrapShell(rest: readonly ShellWord[]): WrappedWords {
  const [option, script] = rest
  if (!option || !script || !/^-[elux]*c$/.test(option.word) || script.isExpanded) return toUnknown()
  return { effects: [], commands: [], scripts: [script.word] }
}

function unwrapFind(rest: readonly ShellWord[]): WrappedWords {
  const effects: Effect[] = rest.some((word) => word.isExpanded) ? ["unknown"] : []
  const commands: ShellWord[][] = []
  let command: ShellWord[] | undefined
  for (const word of rest) {
    if (command && (word.word === ";" || (word.word === "+" && command.at(-1)?.word === "{}"))) command = undefined
    else if (command) command.push(word.word.includes("{}") ? { ...word, isExpanded: true } : word)
    else if (FIND_RUNS.has(word.word)) commands.push((command = []))
    else if (word.word === "-delete") effects.push("delete")
    else if (/^-f(?:print|ls)/.test(word.word)) effects.push("write")
  }
  return { effects, commands, scripts: [] }
}
