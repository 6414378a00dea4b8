export interface FrontMatter {
  /** Values by field name in lower case. A value stays text, also when it is written as a list or an object. */
  readonly fields: ReadonlyMap<string, string>
  readonly body: string
  /** True if the text begins like a block of fields that is never closed. `body` is then the whole text, fields included. */
  readonly isUnclosed: boolean
}

const BLOCK = /^\ufeff?---[ \t]*\r?\n(?<head>(?:.*\r?\n)*?)---[ \t]*(?:\r?\n|$)/
const BEGINNING = /^\ufeff?---[ \t]*\r?\n[A-Za-z][\w-]*[ \t]*:/
const FIELD = /^(?<name>[A-Za-z][\w-]*)[ \t]*:(?<value>.*)$/

/** Reads the `name: value` lines between two lines of `---` at the very beginning. An unclosed block counts as text. */
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

/** Splits a field that lists names on one line: `a, b` or `[a, b]`, each with or without quotes. */
export function splitNames(text: string): readonly string[] {
  return text
    .replace(/^\[(.*)\]$/, "$1")
    .split(",")
    .map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .filter((name) => name !== "")
}
