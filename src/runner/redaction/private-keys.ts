/** One secret in a text. `end` is the index after its last character. */
export interface SecretRange {
  readonly start: number
  readonly end: number
}

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/g
/** The lines of a key whose end is not there. The `\\` is that of a line break in JSON. */
const LINES = /[A-Za-z0-9+/=\s\\]{0,15000}/y
const LONGEST_CHARACTERS = 15_000

/**
 * The private keys in a text, each to its end line, or as far as its lines go. One pattern for a whole key would look
 * ahead for the end line from every beginning again.
 */
export function findPrivateKeys(text: string): readonly SecretRange[] {
  const ranges: SecretRange[] = []
  const ends = text.matchAll(END)
  let next = ends.next()
  let position = 0
  for (const { index: start, 0: line } of text.matchAll(BEGIN)) {
    if (start < position) continue
    const begun = start + line.length
    while (next.value && next.value.index < begun) next = ends.next()
    const isWhole = next.value !== undefined && next.value.index - begun <= LONGEST_CHARACTERS
    position = isWhole && next.value ? next.value.index + next.value[0].length : toEndOfLines(text, begun)
    ranges.push({ start, end: position })
  }
  return ranges
}

function toEndOfLines(text: string, start: number): number {
  LINES.lastIndex = start
  return start + (LINES.exec(text)?.[0].length ?? 0)
}
