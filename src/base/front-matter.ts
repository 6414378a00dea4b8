export interface FrontMatter {
  /** By name in lower case. Plain texts only: a value that is a list or nested stays the text it is. */
  readonly fields: ReadonlyMap<string, string>
  readonly body: string
}

const BLOCK = /^\ufeff?---[ \t]*\r?\n(?<head>(?:.*\r?\n)*?)---[ \t]*(?:\r?\n|$)/
const FIELD = /^(?<name>[A-Za-z][\w-]*)[ \t]*:(?<value>.*)$/

/** `name: value` lines between two lines of `---` at the very beginning. A block that is not closed is text. */
export function splitFrontMatter(text: string): FrontMatter {
  const block = BLOCK.exec(text)
  if (!block) return { fields: new Map(), body: text.replace(/^\ufeff/, "") }
  const fields = (block.groups?.["head"] ?? "").split(/\r?\n/).flatMap((line): [string, string][] => {
    const { name, value } = FIELD.exec(line)?.groups ?? {}
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), withoutQuotes(value.trim())]]
  })
  return { fields: new Map(fields), body: text.slice(block[0].length) }
}

function withoutQuotes(value: string): string {
  return /^(["']).*\1$/.test(value) && value.length > 1 ? value.slice(1, -1) : value
}
