import { MeanwhileError } from "../../base/error.ts"
import type { SessionChanges } from "../../plugin/sessions-port.ts"
import type { Redactor } from "../../runner/redaction/redactor.ts"
import type { SessionLabels, SessionMetadata } from "../../task/session.ts"

const MOST_KEYS = 16
const LONGEST_KEY = 64
const LONGEST_VALUE = 512
const LONGEST_TITLE = 200

/** The key by which a session names the one that it was forked from. It does not count towards the limit. */
export const FORKED_FROM = "forkedFrom"

export const NO_LABELS: SessionLabels = { metadata: {}, title: null }

/** Refuses what no store could keep or find again, as `invalid_input`. */
export function requireMetadata(metadata: Readonly<Record<string, unknown>>): void {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    throw refuse("metadata", "The metadata of a session are an object of texts.")
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (!isPlain(key, LONGEST_KEY) || key === "") {
      const text = `A key of the metadata is a text of 1 to ${LONGEST_KEY} characters, without control characters: not ${shown(key)}.`
      throw refuse("metadata", text)
    }
    if (value === null || (typeof value === "string" && isPlain(value, LONGEST_VALUE))) continue
    const text = `\`metadata.${key}\` is a text of at most ${LONGEST_VALUE} characters, without control characters: not ${shown(value)}.`
    throw refuse(`metadata.${key}`, text)
  }
}

/** The metadata of a new session, checked and without secrets. */
export function toNewMetadata(redactor: Redactor, metadata: SessionMetadata = {}): SessionMetadata {
  return relabel(redactor, NO_LABELS, { metadata }).metadata
}

/** The labels after the changes, which are checked. Secrets are taken out. */
export function relabel(redactor: Redactor, known: SessionLabels, changes: SessionChanges): SessionLabels {
  const { metadata, title } = toStoredChanges(redactor, changes)
  const entries = Object.entries({ ...known.metadata, ...metadata })
  const kept = entries.filter((entry): entry is [string, string] => entry[1] !== null)
  const count = kept.filter(([key]) => key !== FORKED_FROM).length
  if (count > MOST_KEYS) {
    const text = `A session has at most ${MOST_KEYS} keys of metadata, and this one would have ${count}. Remove one by setting it to null.`
    throw refuse("metadata", text)
  }
  return { metadata: Object.fromEntries(kept), title: title === undefined ? known.title : title }
}

/** The changes as they are stored. */
export function toStoredChanges(redactor: Redactor, { metadata = {}, title }: SessionChanges): SessionChanges {
  requireMetadata(metadata)
  const stored = redactor.redactJson(metadata).value as NonNullable<SessionChanges["metadata"]>
  if (title === undefined) return { metadata: stored }
  return { metadata: stored, title: title === null ? null : toStoredTitle(redactor, title) }
}

function toStoredTitle(redactor: Redactor, title: unknown): string {
  if (typeof title === "string" && title.trim() !== "" && isPlain(title, LONGEST_TITLE)) {
    return redactor.redactText(title.trim())
  }
  const text = `\`title\` is a line of 1 to ${LONGEST_TITLE} characters, or null: not ${shown(title)}.`
  throw refuse("title", text)
}

function isPlain(text: string, longest: number): boolean {
  return text.length <= longest && text.isWellFormed() && !/\p{Cc}/u.test(text)
}

const MOST_SHOWN = 40

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}…`
}

function refuse(field: string, text: string): MeanwhileError {
  return new MeanwhileError("invalid_input", text, { field })
}
