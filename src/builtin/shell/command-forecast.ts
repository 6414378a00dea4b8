import type { BackgroundPolicy } from "../../plugin/tool.ts"
import { type Classified, classifyCommand } from "./command-category.ts"
import { type PlainCommand, unwrapScript } from "./command-unwrap.ts"
import type { CommandCategory } from "./program-table.ts"

/** A forecast about a command before it runs. */
export interface CommandForecast {
  readonly policy: BackgroundPolicy
  readonly estimateMs: number | undefined
  /** Program and subcommand of every part, without paths and values: calls of one shape take about as long. */
  readonly shape: string
}

interface Figures {
  /** Undefined: the configured threshold. */
  readonly afterMs?: number
  readonly estimateMs?: number
}

/**
 * Commands that usually take long leave the foreground sooner: ten seconds of waiting for an install help nobody.
 * Servers and watchers never end, yet one that fails at once (a port in use) should say so, hence a moment and not
 * `always`.
 */
const FIGURES: Readonly<Record<CommandCategory, Figures>> = {
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
  readonly command: PlainCommand
}

export function forecastCommand(text: string): CommandForecast {
  const { commands, isWhole } = unwrapScript(text)
  const parts = commands.map((command) => ({ ...classifyCommand(command), command }))
  const telling = parts.filter(({ command }) => !isSideshow(command))
  const shown = telling.length > 0 ? telling : parts
  const awaited = shown.filter(({ command }) => !command.isDetached)
  return { policy: toPolicy(awaited), estimateMs: toEstimate(awaited, isWhole), shape: toShape(shown) }
}

function isSideshow({ program, follows }: PlainCommand): boolean {
  return PREPARATIONS.has(program) || (follows === "pipe" && VIEWERS.has(program))
}

function toPolicy(parts: readonly Part[]): BackgroundPolicy {
  const thresholds = parts.flatMap(({ category }) => FIGURES[category].afterMs ?? [])
  return thresholds.length > 0 ? { mode: "after", ms: Math.min(...thresholds) } : { mode: "after" }
}

/** Unknown when one of the parts never ends, or when there is a loop: nobody knows how often it turns. */
function toEstimate(parts: readonly Part[], isWhole: boolean): number | undefined {
  if (!isWhole || parts.some(({ category }) => category === "serve")) return undefined
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

function toShape(parts: readonly Part[]): string {
  if (parts.length === 0) return "script"
  const signatures = parts.slice(0, LONGEST_SHAPE).map(({ command, subcommands }, index) => {
    const program = PROGRAM.test(command.program) ? command.program : "?"
    const joint =
      index === 0 ? "" : command.follows === "pipe" ? " | " : command.follows === "alternative" ? " || " : " ; "
    return `${joint}${[program, ...subcommands].join(" ")}`
  })
  return `${signatures.join("")}${parts.length > LONGEST_SHAPE ? " …" : ""}`
}
