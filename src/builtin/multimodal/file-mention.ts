/** A place in a prompt that may name a file: `@path` or `@"path with spaces"`. */
export interface FileMention {
  /** Of the `@`. */
  readonly start: number
  /** Longest first: a full stop may end the path or the sentence. */
  readonly candidates: readonly { readonly path: string; readonly end: number }[]
}

/** Not after a word, so that `me@example.com` is none. */
const MENTION = /(?<![\w@.+-])@(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})'|([^\s"'`@]{1,1000}))/g
const CLOSING = /[.,;:!?)\]}>*_]$/
const MOST_MENTIONS = 50

export function findMentions(prompt: string): readonly FileMention[] {
  return [...prompt.matchAll(MENTION)].slice(0, MOST_MENTIONS).map((match) => {
    const quoted = match[1] ?? match[2]
    const end = match.index + match[0].length
    const candidates = quoted === undefined ? toCandidates(match[3] ?? "", end) : [{ path: quoted, end }]
    return { start: match.index, candidates }
  })
}

function toCandidates(text: string, end: number): FileMention["candidates"] {
  const candidates = [{ path: text, end }]
  let path = text
  while (CLOSING.test(path) && candidates.length < 5) {
    path = path.slice(0, -1)
    candidates.push({ path, end: end - (text.length - path.length) })
  }
  return candidates.filter((candidate) => candidate.path !== "")
}
