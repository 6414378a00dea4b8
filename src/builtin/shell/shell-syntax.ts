import { readWord, type ShellWord } from "./shell-word.ts"

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
