import { readTokens, type Token, type ShellWord } from "./shell-word.ts"

export interface Redirection {
  readonly operator: string
  readonly target: ShellWord
}

/** One program with its words, or none of them when there are only redirections. */
export interface ScriptPart {
  readonly words: readonly ShellWord[]
  readonly redirections: readonly Redirection[]
}

/** Longer text is neither read nor judged. */
const LONGEST_TEXT = 16_384
/** Spaces and controls that only some shells take for what they look like. */
const ODD_CHARACTER = /[^\P{Cc}\n\t]|[^\S \n\t]/u
/** A shell joins such text across two lines; this reader would not. */
const JOINED_LINES = /[$<>&|;]\\\n/
const KEYWORDS_BEFORE_COMMAND = new Set(["if", "then", "elif", "else", "do", "while", "until", "!", "{"])
const KEYWORDS_ALONE = new Set(["fi", "done", "}"])

/**
 * Every command of a shell text, those of its substitutions included. Contract: undefined rather than a guess. Where
 * shells read a text differently, the commands of both readings are returned, or undefined.
 */
export function readScript(text: string, depth = 0): readonly ScriptPart[] | undefined {
  if (depth > 4 || text.length > LONGEST_TEXT || ODD_CHARACTER.test(text) || JOINED_LINES.test(text)) return undefined
  const { tokens, isWhole } = readTokens(text)
  if (!isWhole) return undefined
  const parts: ScriptPart[] = []
  for (const part of toParts(tokens) ?? [undefined]) {
    const words = part && [...part.words, ...part.redirections.map(({ target }) => target)]
    const own = part && withoutKeywords(part)
    if (!words || !own || words.some((word) => word.isDoubtful)) return undefined
    parts.push(own)
    for (const script of words.flatMap((word) => word.scripts)) {
      const inner = readScript(script, depth + 1)
      if (!inner) return undefined
      parts.push(...inner)
    }
  }
  return parts
}

/** Splits at every operator, brackets included: what stands between two of them is one part. */
function toParts(tokens: readonly Token[]): readonly ScriptPart[] | undefined {
  const parts: ScriptPart[] = []
  let words: ShellWord[] = []
  let redirections: Redirection[] = []
  let redirection: string | undefined
  function end(): void {
    if (words.length + redirections.length > 0) parts.push({ words, redirections })
    words = []
    redirections = []
  }
  for (const token of tokens) {
    if (!("operator" in token)) {
      if (redirection === undefined) words.push(token)
      else redirections.push({ operator: redirection, target: token })
      redirection = undefined
      continue
    }
    const { operator } = token
    const isProcessSubstitution = operator === "(" && (redirection === "<" || redirection === ">")
    if (redirection !== undefined && !isProcessSubstitution) return undefined
    // To some shells `&>` is one operator, to others the end of a command and a redirection of the next.
    if (!/[<>]/.test(operator) || operator.startsWith("&")) end()
    redirection = /[<>]/.test(operator) ? operator : undefined
  }
  if (redirection !== undefined) return undefined
  end()
  return parts
}

function withoutKeywords(part: ScriptPart): ScriptPart | undefined {
  let start = 0
  while (isKeyword(part.words[start], KEYWORDS_BEFORE_COMMAND)) start++
  const words = part.words.slice(start)
  const [first, name, preposition] = words
  if (isKeyword(first, KEYWORDS_ALONE)) return words.length === 1 ? { ...part, words: [] } : undefined
  if (!first?.isPlain || !/^(?:for|case|select|function|esac)$/.test(first.word)) return { ...part, words }
  const isLoop = first.word === "for" && name !== undefined && (!preposition || preposition.word === "in")
  // The loop gives values to its variable, as `read` does.
  return isLoop ? { ...part, words: [{ ...first, word: "read" }, name] } : undefined
}

function isKeyword(word: ShellWord | undefined, keywords: ReadonlySet<string>): boolean {
  return word !== undefined && word.isPlain && keywords.has(word.word)
}
