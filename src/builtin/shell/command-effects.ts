import { EFFECTS, type Effect } from "../../plugin/effect.ts"
import { withoutValues } from "./command-category.ts"
import { ADDED_EFFECTS, effectsIn, PROGRAM_EFFECTS, SECOND_NAME_WRITTEN } from "./effect-table.ts"
import { gitEffects } from "./git-effects.ts"
import { PROGRAMS } from "./program-table.ts"
import { type Redirection, readScript, type ScriptPart } from "./script-reading.ts"
import type { ShellWord } from "./shell-word.ts"
import { isReadingAwk, isReadingSed } from "./text-program.ts"
import { areHarmlessNames, isHarmlessAssignment, isHarmlessVariable } from "./variable-name.ts"
import { unwrapWords } from "./wrapped-words.ts"

const UNKNOWN: readonly Effect[] = ["unknown"]
const NOTHING: readonly Effect[] = []
const STANDARD_FOLDER = /^(?:\/usr)?(?:\/local)?\/s?bin\//
const HARMLESS_TARGET = /^(?:\/dev\/(?:null|stdout|stderr|tty)|\/dev\/fd\/\d+)$/
const NETWORK_TARGET = /^\/dev\/(?:tcp|udp)\//
/** What some shells run when they count with it, as zsh does in `test` and `printf`. */
const SUBSCRIPT = /\[[^\]]*(?:\$\(|`)/
const DEEPEST = 8

/**
 * What a command does to the world, as far as its text tells: the union over all its parts. Contract: what cannot be
 * read, and every program that is not in the table, is `unknown`; nothing is believed to be harmless by default.
 */
export function commandEffects(text: string, environment: Readonly<Record<string, string>> = {}): readonly Effect[] {
  const isPlain = Object.keys(environment).every(isHarmlessVariable)
  return inOrder([...scriptEffects(text, 0), ...(isPlain ? NOTHING : UNKNOWN)])
}

function scriptEffects(text: string, depth: number): readonly Effect[] {
  const parts = depth > DEEPEST ? undefined : readScript(text)
  return parts?.flatMap((part) => partEffects(part, depth)) ?? UNKNOWN
}

function partEffects({ words, redirections }: ScriptPart, depth: number): readonly Effect[] {
  return [...redirections.flatMap(redirectionEffects), ...wordEffects(words, depth)]
}

export function redirectionEffects({ operator, target }: Redirection): readonly Effect[] {
  if (operator === "<<<") return NOTHING
  if (NETWORK_TARGET.test(target.word)) return ["send"]
  const isDescriptor = operator.endsWith("&") && !target.isExpanded && /^(?:\d+|-)$/.test(target.word)
  if (isDescriptor || (!target.isExpanded && HARMLESS_TARGET.test(target.word))) return NOTHING
  const fromShell = target.isExpanded ? UNKNOWN : NOTHING
  return operator.includes(">") ? ["write", ...fromShell] : fromShell
}

function wordEffects(words: readonly ShellWord[], depth: number): readonly Effect[] {
  const start = words.findIndex((word) => !word.isAssignment)
  const assignments = start < 0 ? words : words.slice(0, start)
  const fromAssignments = assignments.every(isHarmlessAssignment) ? NOTHING : UNKNOWN
  if (start < 0) return fromAssignments
  return [...fromAssignments, ...programEffects(words.slice(start), depth)]
}

function programEffects(words: readonly ShellWord[], depth: number): readonly Effect[] {
  const [first, ...rest] = words
  if (!first) return NOTHING
  const program = first.isExpanded ? undefined : toKnownName(first.word)
  if (program === undefined || depth > DEEPEST) return UNKNOWN
  const wrapped = unwrapWords(program, rest)
  if (wrapped) {
    return [
      ...wrapped.effects,
      ...wrapped.commands.flatMap((command) => wordEffects(command, depth + 1)),
      ...wrapped.scripts.flatMap((script) => scriptEffects(script, depth + 1)),
    ]
  }
  if (program === "git") return gitEffects(rest)
  if (program === "sed") return isReadingSed(rest) ? NOTHING : UNKNOWN
  if (program === "awk") return isReadingAwk(rest) ? NOTHING : UNKNOWN
  if (/^(?:read|export|local|readonly|unset)$/.test(program)) return areHarmlessNames(rest) ? NOTHING : UNKNOWN
  return tableEffects(program, rest)
}

function tableEffects(program: string, rest: readonly ShellWord[]): readonly Effect[] {
  const own = effectsIn(PROGRAM_EFFECTS, program)
  if (!own) return installs(program, rest) ? ["install"] : UNKNOWN
  const additions = Object.hasOwn(ADDED_EFFECTS, program) ? ADDED_EFFECTS[program] : undefined
  const dependsOnWords = additions !== undefined || SECOND_NAME_WRITTEN.has(program)
  const names = rest.filter(({ word }) => !/^-./.test(word))
  return [
    ...own,
    ...(dependsOnWords && rest.some((word) => word.isExpanded) ? UNKNOWN : NOTHING),
    ...(rest.some(({ word, isExpanded }) => !isExpanded && SUBSCRIPT.test(word)) ? UNKNOWN : NOTHING),
    ...(SECOND_NAME_WRITTEN.has(program) && names.length > 1 ? (["write"] as const) : NOTHING),
    ...(additions ?? []).flatMap(([effect, argument]) =>
      rest.some(({ word }) => argument.test(word)) ? [effect] : NOTHING,
    ),
  ]
}

/** Package managers, by the words that the table of durations has for installing. */
function installs(program: string, rest: readonly ShellWord[]): boolean {
  const rule = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  if (!rule || rest.some((word) => word.isExpanded)) return false
  const words = withoutValues(
    rule,
    rest.map(({ word }) => word),
  )
  const subcommand = words.find((word) => !word.startsWith("-"))
  return subcommand === undefined ? rule.bare === "install" : (rule.install?.split(" ").includes(subcommand) ?? false)
}

/** A program is known by its name only where programs are installed: `./ls` can be anything. */
export function toKnownName(path: string): string | undefined {
  const name = path.replace(STANDARD_FOLDER, "")
  return name.includes("/") ? undefined : name
}

function inOrder(effects: readonly Effect[]): readonly Effect[] {
  return EFFECTS.filter((effect) => effects.includes(effect))
}
