import type { BackgroundPolicy } from "../../plugin/tool.ts"
import { type UnwrappedCommand, unwrapScript } from "./command-unwrap.ts"
import { type CommandCategory, CATEGORIES, PROGRAMS, type ProgramRule, withoutValues } from "./program-table.ts"

/** A forecast about a command before it runs. */
export interface CommandForecast {
  readonly policy: BackgroundPolicy
  /** True if a part of it is a server or a watcher, which never ends by itself. */
  readonly isEndless: boolean
  readonly estimateMs: number | undefined
  /** Program and subcommand of every part, without paths and values: calls of one shape take about as long. */
  readonly shape: string
}

/**
 * Commands that usually take long leave the foreground sooner: ten seconds of waiting for an install help nobody.
 * Servers and watchers never end, yet one that fails at once (a port in use) should say so, hence a moment and not
 * `always`. Without `afterMs` the configured threshold holds.
 */
const FIGURES: Readonly<Record<CommandCategory, { readonly afterMs?: number; readonly estimateMs?: number }>> = {
  install: { afterMs: 5_000, estimateMs: 30_000 },
  build: { afterMs: 5_000, estimateMs: 60_000 },
  test: { afterMs: 5_000, estimateMs: 30_000 },
  serve: { afterMs: 2_000 },
  other: {},
}

const LONGEST_SHAPE = 8
const PROGRAM = /^[\w.+-]{1,40}$/
/** Parts that take no time and say nothing about the rest. */
const PREPARATIONS = new Set(["cd", "export", "set", "unset", "true", ":", "echo", "printf", "pwd"])
/** Parts that only look at what another prints. */
const VIEWERS = new Set(["tail", "head", "tee", "grep", "cat", "less", "sort", "wc"])

interface Part extends Classified {
  readonly command: UnwrappedCommand
}

export function forecastCommand(text: string): CommandForecast {
  const { commands, isWhole } = unwrapScript(text)
  const parts = commands.map((command) => ({ ...classifyCommand(command), command }))
  const telling = parts.filter(({ command }) => !isSideshow(command))
  const shown = telling.length > 0 ? telling : parts
  const awaited = shown.filter(({ command }) => !command.isDetached)
  const isEndless = awaited.some(({ category }) => category === "serve")
  return {
    policy: toPolicy(awaited),
    isEndless,
    estimateMs: isWhole && !isEndless ? toEstimate(awaited) : undefined,
    shape: toShape(shown),
  }
}

function isSideshow({ program, follows }: UnwrappedCommand): boolean {
  return PREPARATIONS.has(program) || (follows === "pipe" && VIEWERS.has(program))
}

function toPolicy(parts: readonly Part[]): BackgroundPolicy {
  const thresholds = parts.flatMap(({ category }) => FIGURES[category].afterMs ?? [])
  return thresholds.length > 0 ? { mode: "after", ms: Math.min(...thresholds) } : { mode: "after" }
}

/** Not for a command with a loop: nobody knows how often it runs. */
function toEstimate(parts: readonly Part[]): number | undefined {
  let total = 0
  let longestOfPipe = 0
  for (const { category, command } of parts) {
    if (command.follows === "alternative") continue
    const own = FIGURES[category].estimateMs ?? 0
    if (command.follows === "sequence") {
      total += longestOfPipe
      longestOfPipe = own
    } else longestOfPipe = Math.max(longestOfPipe, own)
  }
  return total + longestOfPipe || undefined
}

const JOINTS = { pipe: " | ", alternative: " || ", sequence: " ; " } as const

function toShape(parts: readonly Part[]): string {
  if (parts.length === 0) return "script"
  const signatures = parts.slice(0, LONGEST_SHAPE).map(({ command, subcommands }, index) => {
    const program = PROGRAM.test(command.program) ? command.program : "?"
    return `${index === 0 ? "" : JOINTS[command.follows]}${[program, ...subcommands].join(" ")}`
  })
  return `${signatures.join("")}${parts.length > LONGEST_SHAPE ? " …" : ""}`
}

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

interface Classified {
  readonly category: CommandCategory
  /** The words that tell one use of the program from another: never a path or a value. */
  readonly subcommands: readonly string[]
}

export function classifyCommand({ program, rest }: UnwrappedCommand): Classified {
  const known = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  const found: Classified = known ? applyRule(known, rest) : { category: "other", subcommands: [] }
  if (rest.some((word) => QUESTIONS.has(word))) return { ...found, category: "other" }
  if (program === "node" && rest.includes("--test")) return { category: "test", subcommands: ["--test"] }
  const canWatch = found.category === "build" || found.category === "test"
  const isWatching = rest.some((word) =>
    program === "tail" ? /^-[a-z0-9]*[fF]/.test(word) : canWatch && WATCHES.has(word),
  )
  return isWatching ? { ...found, category: "serve" } : found
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

/** Judges a name that the project chose, after `run` or in place of a subcommand, by what such names usually mean. */
function toNamed(before: readonly string[], rest: readonly string[], rule: ProgramRule): Classified {
  const name = rest.find((word) => PROJECT_NAME.test(word))
  if (name === undefined) return { category: rule.bare ?? "other", subcommands: before }
  const own = CATEGORIES.find((each) => rule[each]?.split(" ").includes(name))
  const category = own ?? NAMED.find(([, pattern]) => pattern.test(name))?.[0] ?? rule.bare ?? "other"
  return { category, subcommands: [...before, name] }
}
