export interface FrontMatter {
  /** By name in lower case. Plain texts only: a value that is a list or nested stays the text it is. */
  readonly fields: ReadonlyMap<string, string>
  readonly body: string
  /** It begins like a block of fields that is never closed: `body` is the whole text, and the fields are part of it. */
  readonly isUnclosed: boolean
}

const BLOCK = /^\ufeff?---[ \t]*\r?\n(?<head>(?:.*\r?\n)*?)---[ \t]*(?:\r?\n|$)/
const BEGINNING = /^\ufeff?---[ \t]*\r?\n[A-Za-z][\w-]*[ \t]*:/
const FIELD = /^(?<name>[A-Za-z][\w-]*)[ \t]*:(?<value>.*)$/

/** `name: value` lines between two lines of `---` at the very beginning. A block that is not closed is text. */
export function splitFrontMatter(text: string): FrontMatter {
  const block = BLOCK.exec(text)
  if (!block) return { fields: new Map(), body: text.replace(/^\ufeff/, ""), isUnclosed: BEGINNING.test(text) }
  const fields = (block.groups?.["head"] ?? "").split(/\r?\n/).flatMap((line): [string, string][] => {
    const { name, value } = FIELD.exec(line)?.groups ?? {}
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), withoutQuotes(value.trim())]]
  })
  return { fields: new Map(fields), body: text.slice(block[0].length), isUnclosed: false }
}

function withoutQuotes(value: string): string {
  return /^(["']).*\1$/.test(value) && value.length > 1 ? value.slice(1, -1) : value
}

/** The names of a field that is a list in one line: `a, b` or `[a, b]`, each with or without quotes. */
export function splitNames(text: string): readonly string[] {
  return text
    .replace(/^\[(.*)\]$/, "$1")
    .split(",")
    .map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .filter((name) => name !== "")
}
