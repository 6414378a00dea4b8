/** A word as it is written, and what is known about what the shell makes of it. */
export interface ShellWord {
  readonly word: string
  /** Nothing in it was quoted. */
  readonly isPlain: boolean
  /** `NAME=…`, with a name that is not quoted. */
  readonly isAssignment: boolean
  /** The shell puts in something else, perhaps several words or none: `$x`, `$(…)`, a pattern that could match `-f`. */
  readonly isExpanded: boolean
  /** Shells disagree about it, or it is beyond what is read here. */
  readonly isDoubtful: boolean
  /** The texts of `$(…)` and of backticks: the shell runs them. */
  readonly scripts: readonly string[]
}

interface ReadWord extends ShellWord {
  readonly end: number
}

const DEEPEST = 32
export const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/
/** At the beginning of a word, these can match a file whose name is an option. */
const PATTERN_START = /^[*?[]/
const BRACE_LIST = /\{.*(?:,|\.\.).*\}/s

/** Undefined when a quote or a substitution is never closed. */
export function readWord(text: string, start: number): ReadWord | undefined {
  const parts: ReadPart[] = []
  let unquoted = ""
  let plainStart = ""
  let at = start
  while (at < text.length && !/[\s;&|()<>]/.test(text[at] ?? "")) {
    const part = readPart(text, at)
    if (!part) return undefined
    if (part.end === at + 1) unquoted += part.text
    if (unquoted.length === part.end - start) plainStart = unquoted
    parts.push(part)
    at = part.end
  }
  const { text: word, isExpanded, isDoubtful, scripts } = joinParts(parts)
  return {
    word,
    end: at,
    isPlain: unquoted.length === at - start,
    isAssignment: ASSIGNMENT.test(plainStart),
    isExpanded: isExpanded || PATTERN_START.test(unquoted) || BRACE_LIST.test(unquoted),
    isDoubtful,
    scripts,
  }
}

interface ReadPart {
  readonly text: string
  readonly end: number
  readonly isExpanded?: boolean
  readonly isDoubtful?: boolean
  readonly scripts?: readonly string[]
}

function readPart(text: string, at: number, depth = 0): ReadPart | undefined {
  if (depth > DEEPEST) return undefined
  const character = text[at] ?? ""
  if (character === "\\") return { text: text[at + 1] === "\n" ? "" : (text[at + 1] ?? ""), end: at + 2 }
  if (character === "'") return readUntil(text, at, "'")
  if (character === "`") return readBackticks(text, at)
  if (character === '"') return readDoubleQuoted(text, at, depth + 1)
  if (character === "$") return readDollar(text, at, depth + 1)
  return { text: character, end: at + 1 }
}

function readUntil(text: string, start: number, quote: string): ReadPart | undefined {
  const end = text.indexOf(quote, start + 1)
  return end < 0 ? undefined : { text: text.slice(start + 1, end), end: end + 1 }
}

function readBackticks(text: string, start: number): ReadPart | undefined {
  const inner = readUntil(text, start, "`")
  if (!inner) return undefined
  const isDoubtful = /[\\#]/.test(inner.text)
  return { text: text.slice(start, inner.end), end: inner.end, isExpanded: true, isDoubtful, scripts: [inner.text] }
}

function readDoubleQuoted(text: string, start: number, depth: number): ReadPart | undefined {
  const parts: ReadPart[] = []
  let at = start + 1
  while (at < text.length) {
    if (text[at] === '"') return { ...joinParts(parts), end: at + 1 }
    const isEscape = text[at] === "\\"
    const part = text[at] === "'" ? { text: "'", end: at + 1 } : readPart(text, at, depth)
    if (!part) return undefined
    // Before any other character the backslash itself stays.
    parts.push(isEscape && !/[$`"\\\n]/.test(text[at + 1] ?? "") ? { ...part, isDoubtful: true } : part)
    at = part.end
  }
  return undefined
}

function joinParts(parts: readonly ReadPart[]): Omit<Required<ReadPart>, "end"> {
  return {
    text: parts.map((part) => part.text).join(""),
    isExpanded: parts.some((part) => part.isExpanded),
    isDoubtful: parts.some((part) => part.isDoubtful),
    scripts: parts.flatMap((part) => part.scripts ?? []),
  }
}

/** The forms of `${…}` in which nothing more is run. */
const PLAIN_PARAMETER = /^\$\{#?\w+(?:(?::?-|##?|%%?)[\w./*-]*)?\}$/

function readDollar(text: string, at: number, depth: number): ReadPart | undefined {
  const next = text[at + 1] ?? ""
  if (next !== "(" && next !== "{") {
    // `$'…'` ends elsewhere than `'…'` does; `$[…]` is arithmetic.
    const isDoubtful = next === "'" || next === "[" || next === "\\"
    return { text: "$", end: at + 1, isExpanded: true, isDoubtful }
  }
  const end = findClosingBracket(text, at, depth)
  if (end === undefined) return undefined
  const source = text.slice(at, end)
  if (next === "{") return { text: source, end, isExpanded: true, isDoubtful: !PLAIN_PARAMETER.test(source) }
  const script = source.slice(2, -1)
  return { text: source, end, isExpanded: true, isDoubtful: /^\(|#/.test(script), scripts: [script] }
}

/** The index behind the bracket that closes `$(…)` or `${…}`. */
function findClosingBracket(text: string, start: number, depth: number): number | undefined {
  const open = text[start + 1] ?? ""
  const close = open === "(" ? ")" : "}"
  let openBrackets = 1
  let at = start + 2
  while (at < text.length) {
    if (text[at] === close && --openBrackets === 0) return at + 1
    if (text[at] === open) openBrackets++
    const isQuote = text[at] === "'" || text[at] === '"' || text[at] === "\\"
    const part = isQuote ? readPart(text, at, depth) : { end: at + 1 }
    if (!part) return undefined
    at = part.end
  }
  return undefined
}

/** One program with its words, as the shell would start it, and how it stands to the one before. */
export interface SimpleCommand {
  /** Quotes are gone. Substitutions such as `$(…)` are kept unread: what they become is known only to the shell. */
  readonly words: readonly string[]
  /** `pipe`: runs beside the one before; `alternative`: only if that one failed (`||`). */
  readonly follows: "sequence" | "pipe" | "alternative"
  /** Ended by `&`: the shell does not wait for it. */
  readonly isDetached: boolean
}

interface ParsedScript {
  readonly commands: readonly SimpleCommand[]
  /** False when there is more to the text than these commands: loops, a here-document, quotes left open. */
  readonly isWhole: boolean
}

export type Token = ShellWord | { readonly operator: string }

/** Enough to tell what a command is about; text beyond is not read. */
const LONGEST_TEXT = 16_384
const OPERATOR = /^(?:&>>|&>|&&|\|\||\|&|;;|<<<|<<-|<<|<&|<>|>>|>&|>\||[;&|()<>\n])/
const REDIRECTION = /[<>]/
/** Words of the shell's own grammar after which a command follows. */
const OPENING = new Set(["if", "then", "elif", "else", "do", "while", "until", "!", "{", "time"])
const CLOSING = new Set(["fi", "done", "esac", "}"])
const UNREAD = new Set(["for", "case", "select", "function"])
const LOOPS = new Set(["for", "while", "until", "select", "case"])

/** Splits shell text into its commands. For guesses about duration only: it never decides what may run. */
export function parseScript(text: string): ParsedScript {
  const { tokens, isWhole } = readTokens(text.slice(0, LONGEST_TEXT))
  const commands: SimpleCommand[] = []
  let words: string[] = []
  let follows: SimpleCommand["follows"] = "sequence"
  let hasLoop = false
  let isTarget = false
  for (const token of [...tokens, { operator: ";" }]) {
    if ("word" in token) {
      if (!isTarget) words.push(token.word)
      hasLoop ||= words.length === 1 && token.isPlain && LOOPS.has(token.word)
      isTarget = false
      continue
    }
    isTarget = REDIRECTION.test(token.operator)
    if (isTarget) continue
    const command = withoutKeywords(words)
    if (command.length > 0) commands.push({ words: command, follows, isDetached: token.operator === "&" })
    words = []
    follows = token.operator === "||" ? "alternative" : token.operator.startsWith("|") ? "pipe" : "sequence"
  }
  return { commands, isWhole: isWhole && !hasLoop && text.length <= LONGEST_TEXT }
}

function withoutKeywords(words: readonly string[]): readonly string[] {
  let start = 0
  while (OPENING.has(words[start] ?? "")) start++
  const first = words[start] ?? ""
  return CLOSING.has(first) || UNREAD.has(first) ? [] : words.slice(start)
}

export function readTokens(text: string): { readonly tokens: readonly Token[]; readonly isWhole: boolean } {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const blank = /^(?:[ \t\r]|\\\n)+|^#[^\n]*/.exec(text.slice(at))
    if (blank) {
      at += blank[0].length
      continue
    }
    const operator = OPERATOR.exec(text.slice(at))
    if (operator) {
      // The body of a here-document begins on the next line and is data.
      if (operator[0] === "<<" || operator[0] === "<<-") return { tokens, isWhole: false }
      tokens.push({ operator: operator[0] })
      at += operator[0].length
      continue
    }
    const read = readWord(text, at)
    if (!read) return { tokens, isWhole: false }
    const isDescriptor = /^\d+$/.test(read.word) && REDIRECTION.test(text[read.end] ?? "")
    if (!isDescriptor) tokens.push(read)
    at = read.end
  }
  return { tokens, isWhole: true }
}
