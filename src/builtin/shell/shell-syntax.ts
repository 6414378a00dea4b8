/** One program with its words, as the shell would start it, and how it stands to the one before. */
export interface SimpleCommand {
  /** Quotes are gone. Substitutions such as `$(…)` are kept unread: what they become is known only to the shell. */
  readonly words: readonly string[]
  /** `pipe`: runs beside the one before; `alternative`: only if that one failed (`||`). */
  readonly follows: "sequence" | "pipe" | "alternative"
  /** Ended by `&`: the shell does not wait for it. */
  readonly isDetached: boolean
}

export interface ParsedScript {
  readonly commands: readonly SimpleCommand[]
  /** False when there is more to the text than these commands: loops, a here-document, quotes left open. */
  readonly isWhole: boolean
}

type Token = { readonly word: string; readonly isPlain: boolean } | { readonly operator: string }

/** Enough to tell what a command is about; text beyond is not read. */
const LONGEST_TEXT = 16_384
const DEEPEST = 32
const OPERATOR = /^(?:&>>|&>|&&|\|\||\|&|;;|<<<|<<-|<<|<&|<>|>>|>&|>\||[;&|()<>\n])/
const REDIRECTION = /[<>]/
/** Words of the shell's own grammar after which a command follows. */
const OPENING = new Set(["if", "then", "elif", "else", "do", "while", "until", "!", "{", "time"])
const CLOSING = new Set(["fi", "done", "esac", "}"])
const UNREAD = new Set(["for", "case", "select", "function"])
const LOOPS = new Set(["for", "while", "until", "select", "case"])

/** Splits shell text into its commands. For guesses about duration only: it never decides what runs. */
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
      // What a here-document feeds to a command begins on the next line, and is data.
      if (operator[0] === "<<" || operator[0] === "<<-") return { tokens, isWhole: false }
      tokens.push({ operator: operator[0] })
      at += operator[0].length
      continue
    }
    const read = readWord(text, at)
    if (!read) return { tokens, isWhole: false }
    const isDescriptor = /^\d+$/.test(read.word) && REDIRECTION.test(text[read.end] ?? "")
    if (!isDescriptor) tokens.push({ word: read.word, isPlain: read.isPlain })
    at = read.end
  }
  return { tokens, isWhole: true }
}

interface ReadWord {
  readonly word: string
  readonly end: number
  /** Nothing in it was quoted. */
  readonly isPlain: boolean
}

/** Undefined when a quote or a substitution is never closed. */
function readWord(text: string, start: number): ReadWord | undefined {
  let word = ""
  let at = start
  let isPlain = true
  while (at < text.length && !/[\s;&|()<>]/.test(text[at] ?? "")) {
    const part = readPart(text, at)
    if (!part) return undefined
    word += part.text
    isPlain &&= part.end === at + 1
    at = part.end
  }
  return { word, end: at, isPlain }
}

interface ReadPart {
  readonly text: string
  readonly end: number
}

function readPart(text: string, at: number, depth = 0): ReadPart | undefined {
  if (depth > DEEPEST) return undefined
  const character = text[at] ?? ""
  if (character === "\\") return { text: text[at + 1] === "\n" ? "" : (text[at + 1] ?? ""), end: at + 2 }
  if (character === "'") return readUntil(text, at, "'")
  if (character === "`") return keepSource(text, at, readUntil(text, at, "`"))
  if (character === '"') return readDoubleQuoted(text, at, depth + 1)
  if (character === "$" && (text[at + 1] === "(" || text[at + 1] === "{")) return readSubstitution(text, at, depth + 1)
  return { text: character, end: at + 1 }
}

function readUntil(text: string, start: number, quote: string): ReadPart | undefined {
  const end = text.indexOf(quote, start + 1)
  return end < 0 ? undefined : { text: text.slice(start + 1, end), end: end + 1 }
}

function keepSource(text: string, start: number, part: ReadPart | undefined): ReadPart | undefined {
  return part && { text: text.slice(start, part.end), end: part.end }
}

function readDoubleQuoted(text: string, start: number, depth: number): ReadPart | undefined {
  let inner = ""
  let at = start + 1
  while (at < text.length) {
    if (text[at] === '"') return { text: inner, end: at + 1 }
    const part = text[at] === "'" ? { text: "'", end: at + 1 } : readPart(text, at, depth)
    if (!part) return undefined
    inner += part.text
    at = part.end
  }
  return undefined
}

/** `$(…)` and `${…}`, to the bracket that closes it. */
function readSubstitution(text: string, start: number, depth: number): ReadPart | undefined {
  const open = text[start + 1] ?? ""
  const close = open === "(" ? ")" : "}"
  let openBrackets = 1
  let at = start + 2
  while (at < text.length) {
    if (text[at] === close && --openBrackets === 0) return { text: text.slice(start, at + 1), end: at + 1 }
    if (text[at] === open) openBrackets++
    const isQuote = text[at] === "'" || text[at] === '"' || text[at] === "\\"
    const part = isQuote ? readPart(text, at, depth) : { end: at + 1 }
    if (!part) return undefined
    at = part.end
  }
  return undefined
}
