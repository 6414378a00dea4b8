/** One program with its words, written so that every shell reads it the same way. */
export interface PlainCommand {
  /** The program as it was written. */
  readonly path: string
  /** The same without `/usr/bin/` and the like. */
  readonly program: string
  readonly rest: readonly string[]
  /** The command with single spaces, and without `/usr/bin/` and the like before the program. Quotes are kept. */
  readonly text: string
}

const LONGEST_TEXT = 4_096
const PROGRAM = /^[\w./-][\w./+-]*$/
/** No sign of a shell, and no `=` in front, which zsh expands. Spaces are allowed in quotes that hold a whole word. */
const BARE = /[\w@%+:,./-][\w@%+=:,./-]*/
const SINGLE_QUOTED = /'[^'\p{C}\p{Zl}\p{Zp}]*'/u
const DOUBLE_QUOTED = /"[^"$`\\!\p{C}\p{Zl}\p{Zp}]*"/u
const WORD = new RegExp(`(?:${BARE.source}|${SINGLE_QUOTED.source}|${DOUBLE_QUOTED.source})(?= |$)`, "uy")
const STANDARD_FOLDER = /^\/(?:usr\/(?:local\/)?)?s?bin\//

/**
 * Undefined for everything that a shell does more with than to start one program: operators, redirections, expansions,
 * assignments, comments, quotes inside of words. Contract: undefined rather than a guess.
 */
export function readPlainCommand(text: string): PlainCommand | undefined {
  const words = text.length > LONGEST_TEXT ? undefined : splitWords(text)
  const [path, ...others] = words ?? []
  if (path === undefined || !PROGRAM.test(path)) return undefined
  const program = path.replace(STANDARD_FOLDER, "")
  return { path, program, rest: others.map(withoutQuotes), text: [program, ...others].join(" ") }
}

function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = []
  let at = skipSpaces(text, 0)
  while (at < text.length) {
    WORD.lastIndex = at
    const [word] = WORD.exec(text) ?? []
    if (word === undefined) return undefined
    words.push(word)
    at = skipSpaces(text, at + word.length)
  }
  return words
}

function skipSpaces(text: string, start: number): number {
  let at = start
  while (text[at] === " ") at++
  return at
}

const withoutQuotes = (word: string): string => (/^['"]/.test(word) ? word.slice(1, -1) : word)
