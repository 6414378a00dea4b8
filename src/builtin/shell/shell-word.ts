interface ReadText {
  readonly text: string
  /** The index behind it. */
  readonly end: number
}

const DEEPEST = 32
export const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/

/** A word without its quotes. Undefined when a quote or a substitution is never closed. */
function readWord(text: string, start: number): ReadText | undefined {
  let word = ""
  let at = start
  while (at < text.length && !/[ \t\r\n;&|()<>]/.test(text[at] ?? "")) {
    const part = readPart(text, at)
    if (!part) return undefined
    word += part.text
    at = part.end
  }
  return { text: word, end: at }
}

function readPart(text: string, at: number, depth = 0): ReadText | undefined {
  if (depth > DEEPEST) return undefined
  const character = text[at] ?? ""
  if (character === "\\") return { text: text[at + 1] === "\n" ? "" : (text[at + 1] ?? ""), end: at + 2 }
  if (character === "'") return readUntil(text, at, "'")
  if (character === "`") return readWhole(text, readUntil(text, at, "`"), at)
  if (character === '"') return readDoubleQuoted(text, at, depth + 1)
  if (character === "$") return readDollar(text, at, depth + 1)
  return { text: character, end: at + 1 }
}

function readUntil(text: string, start: number, quote: string): ReadText | undefined {
  const end = text.indexOf(quote, start + 1)
  return end < 0 ? undefined : { text: text.slice(start + 1, end), end: end + 1 }
}

/** Substitutions are kept as they are written: what they become is known only to the shell. */
function readWhole(text: string, inner: { readonly end: number } | undefined, start: number): ReadText | undefined {
  return inner && { text: text.slice(start, inner.end), end: inner.end }
}

function readDoubleQuoted(text: string, start: number, depth: number): ReadText | undefined {
  let inside = ""
  let at = start + 1
  while (at < text.length) {
    if (text[at] === '"') return { text: inside, end: at + 1 }
    const part = text[at] === "'" ? { text: "'", end: at + 1 } : readPart(text, at, depth)
    if (!part) return undefined
    inside += part.text
    at = part.end
  }
  return undefined
}

function readDollar(text: string, at: number, depth: number): ReadText | undefined {
  const next = text[at + 1] ?? ""
  if (next !== "(" && next !== "{") return { text: "$", end: at + 1 }
  return readWhole(text, findClosingBracket(text, at, depth), at)
}

/** The end of `$(…)` or `${…}`. */
function findClosingBracket(text: string, start: number, depth: number): { readonly end: number } | undefined {
  const open = text[start + 1] ?? ""
  const close = open === "(" ? ")" : "}"
  let openBrackets = 1
  let at = start + 2
  while (at < text.length) {
    if (text[at] === close && --openBrackets === 0) return { end: at + 1 }
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

type Token = { readonly word: string; readonly isQuoted: boolean } | { readonly operator: string }

/** Enough to tell what a command is about; text beyond is not read. */
const LONGEST_TEXT = 16_384
const OPERATOR = /^(?:&>>|&>|&&|\|\||\|&|;;|<<<|<<-|<<|<&|<>|>>|>&|>\||[;&|()<>\n])/
const REDIRECTION = /[<>]/
/** Words of the shell's own grammar after which a command follows. */
const OPENING = new Set(["if", "then", "elif", "else", "do", "while", "until", "!", "{", "time"])
const CLOSING = new Set(["fi", "done", "esac", "}"])
const UNREAD = new Set(["for", "case", "select", "function"])
const LOOPS = new Set(["for", "while", "until", "select", "case"])

/** Splits shell text into its commands. A guess, for durations and for reasons to refuse: no text may run because of it. */
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
      hasLoop ||= words.length === 1 && !token.isQuoted && LOOPS.has(token.word)
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

function readTokens(text: string): { readonly tokens: readonly Token[]; readonly isWhole: boolean } {
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
    const written = text.slice(at, read.end)
    const isDescriptor = /^\d+$/.test(written) && REDIRECTION.test(text[read.end] ?? "")
    if (!isDescriptor) tokens.push({ word: read.text, isQuoted: written !== read.text })
    at = read.end
  }
  return { tokens, isWhole: true }
}
