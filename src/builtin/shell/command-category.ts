import type { PlainCommand } from "./command-unwrap.ts"
import { CATEGORIES, type CommandCategory, PROGRAMS, type ProgramRule } from "./program-table.ts"

const PROJECT_NAME = /^[a-z][a-z0-9:._-]{0,39}$/i
/** Usual names of scripts and targets in projects. */
const NAMED: readonly (readonly [CommandCategory, RegExp])[] = [
  ["serve", /^(?:dev|start|serve|watch|preview)(?:[:._-]|$)|[:._-]watch$/],
  ["test", /^(?:test|tests|spec|e2e|check|coverage)(?:[:._-]|$)/],
  ["install", /^(?:install|deps|setup|bootstrap)(?:[:._-]|$)/],
  ["build", /^(?:build|compile|bundle|dist|release)(?:[:._-]|$)/],
]
const QUESTIONS = new Set(["--help", "--version", "--dry-run"])
const WATCHES = new Set(["--watch", "-w", "--watchAll"])

export interface Classified {
  readonly category: CommandCategory
  /** The words that tell one use of the program from another: never a path or a value. */
  readonly subcommands: readonly string[]
}

export function classifyCommand({ program, rest }: PlainCommand): Classified {
  const known = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  const found: Classified = known ? applyRule(known, rest) : { category: "other", subcommands: [] }
  if (rest.some((word) => QUESTIONS.has(word))) return { ...found, category: "other" }
  const isWatching = program === "tail" ? rest.some((word) => /^-[a-z0-9]*[fF]/.test(word)) : canWatch(found, rest)
  if (program === "node" && rest.includes("--test")) return { category: "test", subcommands: ["--test"] }
  return isWatching ? { ...found, category: "serve" } : found
}

function canWatch({ category }: Classified, rest: readonly string[]): boolean {
  return (category === "build" || category === "test") && rest.some((word) => WATCHES.has(word))
}

function applyRule(rule: ProgramRule, rest: readonly string[]): Classified {
  const names = rule.names?.split(" ") ?? []
  const words = withoutValues(rule, rest)
  for (const [index, word] of words.entries()) {
    const category = CATEGORIES.find((each) => rule[each]?.split(" ").includes(word))
    if (category) return { category, subcommands: [word] }
    if (names.includes(word)) return toNamed([word], words.slice(index + 1), rule)
  }
  if (names.includes("*") && words.some((word) => PROJECT_NAME.test(word))) return toNamed([], words, rule)
  return { category: rule.bare ?? "other", subcommands: [] }
}

/** After `run`, or in place of a subcommand, a name of the project's own: judged by what such names usually mean. */
function toNamed(before: readonly string[], rest: readonly string[], rule: ProgramRule): Classified {
  const name = rest.find((word) => PROJECT_NAME.test(word))
  if (name === undefined) return { category: rule.bare ?? "other", subcommands: before }
  const own = CATEGORIES.find((each) => rule[each]?.split(" ").includes(name))
  const category = own ?? NAMED.find(([, pattern]) => pattern.test(name))?.[0] ?? rule.bare ?? "other"
  return { category, subcommands: [...before, name] }
}

export function withoutValues(rule: ProgramRule, rest: readonly string[]): readonly string[] {
  const valued = rule.valued?.split(" ") ?? []
  return rest.filter((word, index) => !valued.includes(word) && !valued.includes(rest[index - 1] ?? ""))
}
