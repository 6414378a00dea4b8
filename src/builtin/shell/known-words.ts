/** The options and operands with which a program, or a subcommand of git, does no more than its table says. */
export interface KnownWords {
  /** Exact words. Those of one letter may be written together, as in `-la`. */
  readonly options: ReadonlySet<string>
  /** Those of them that may have a number right behind them, as in `-n5`; `-` is for `-5`. */
  readonly numbered: ReadonlySet<string>
  /** Default: any. Contract: each operand is harmless wherever it stands, also as the value of an option. */
  readonly operands?: OperandRule
}

/** `words`: the operands with the options, as they were written. */
export type OperandRule = (operands: readonly string[], words: readonly string[]) => boolean

const LETTERS = /^-([A-Za-z]+)$/
/** Nothing may stand behind the digits: where the number ends, some programs read on for further options. */
const NUMBERED = /^(-[A-Za-z]?)\d+$/

/**
 * True if every option is known. Contract: a word that begins with `-` counts as an option wherever it stands, also in
 * quotes, and none is known behind `--`; long options must be written out.
 */
export function areKnown(known: KnownWords, words: readonly string[]): boolean {
  const { operands = () => true } = known
  const end = words.indexOf("--")
  if (end >= 0 && words.slice(end + 1).some((word) => word.startsWith("-"))) return false
  return (
    words.filter(isOption).every((word) => isKnown(known, word)) &&
    operands(
      words.filter((word) => !isOption(word)),
      words,
    )
  )
}

export const isOption = (word: string): boolean => /^-./.test(word)

function isKnown({ options, numbered }: KnownWords, word: string): boolean {
  if (word === "--" || options.has(word)) return true
  if (word.startsWith("--")) return options.has(word.split("=", 1)[0] ?? "")
  if (numbered.has(NUMBERED.exec(word)?.[1] ?? "")) return true
  const letters = LETTERS.exec(word)?.[1]
  return letters !== undefined && letters.split("").every((letter) => options.has(`-${letter}`))
}

/** Rows of a table: names that share their options. `-n#` may have a number right behind it, and `-#` is a number. */
export function toKnownWords(rows: Readonly<Record<string, string>>): ReadonlyMap<string, KnownWords> {
  return new Map(
    Object.entries(rows).flatMap(([names, row]) => {
      const known = toOptions(row.split(" "))
      return names.split(" ").map((name) => [name, known] as const)
    }),
  )
}

function toOptions(words: readonly string[]): KnownWords {
  const numbered = words.filter((word) => word.endsWith("#")).map((word) => word.slice(0, -1))
  const plain = words.filter((word) => !word.endsWith("#"))
  return { options: new Set([...plain, ...numbered]), numbered: new Set(numbered) }
}
