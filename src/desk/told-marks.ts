import { createHash } from "node:crypto"
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { isMeanwhileError } from "../base/error.ts"
import type { JsonValue } from "../base/json.ts"
import { TOLD_MARKS } from "../session/saved/documents.ts"
import { DEFAULT_WORKSPACE, type SessionId, type TaskId } from "../task/id.ts"
import type { TaskStore } from "../task/store.ts"
import type { DeskOwner } from "./desk-options.ts"

/** Marks of the person at the terminal have no name: they were kept before there were actors. */
const UNNAMED_ACTOR = "person"

/** The name of a file or folder in which a data folder keeps something of one actor. */
export function toActorName(what: string, actor: string): string {
  return actor === UNNAMED_ACTOR ? what : `${what}-${toPlainName(actor)}`
}

/** The ends of tasks that an actor was told. */
export interface ToldMark {
  /** All ends up to this time. It never moves back. */
  readonly until: number
  /** Single ends after that time: an earlier one was not shown yet. */
  readonly beyond: readonly { readonly id: TaskId; readonly endedAt: number }[]
}

export interface ToldMarks {
  /** Undefined: nobody was told anything yet, and so nothing was missed. */
  read(conversation: SessionId): Promise<ToldMark | undefined>
  /** Adds what was told. Best effort: if a mark is lost, an end is shown twice. */
  raise(conversation: SessionId, more: ToldMark): Promise<void>
}

const NOTHING_TOLD: ToldMark = { until: 0, beyond: [] }
/** Scripts may run for long before somebody looks at what was missed. Of more ends the oldest are told twice. */
const MOST_BEYOND = 1_000

function joinMarks(one: ToldMark, other: ToldMark): ToldMark {
  const until = Math.max(one.until, other.until)
  const ends = new Map([...one.beyond, ...other.beyond].map((end) => [end.id, end]))
  return { until, beyond: [...ends.values()].filter(({ endedAt }) => endedAt > until).slice(-MOST_BEYOND) }
}

/** Kept apart from the time, which programs of an earlier version read and raise, too. */
const toStored = (beyond: ToldMark["beyond"]): JsonValue => beyond.map(({ id, endedAt }) => [id, endedAt])

const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value)

function fromStored(kept: JsonValue | undefined): ToldMark["beyond"] {
  if (!isList(kept)) return []
  return kept.flatMap((end) => {
    if (!isList(end)) return []
    const [id, endedAt] = end
    return typeof id === "string" && typeof endedAt === "number" ? [{ id: id as TaskId, endedAt }] : []
  })
}

const isSame = (one: ToldMark, other: ToldMark): boolean =>
  one.until === other.until && JSON.stringify(toStored(one.beyond)) === JSON.stringify(toStored(other.beyond))

/** One mark for all conversations of a workspace, in a file beside the store. */
export function createFileMarks(folder: string, { workspace, actor }: DeskOwner): ToldMarks {
  const ofWorkspace = workspace === DEFAULT_WORKSPACE ? "" : `@${toPlainName(workspace)}`
  const path = `${folder}/${toActorName("announced", actor)}${ofWorkspace}`
  /** The mark that this process has reached: a full disk keeps no file. */
  let raised: ToldMark | undefined
  const read = (): ToldMark | undefined => {
    const kept = readMark(path)
    return kept && raised ? joinMarks(kept, raised) : (kept ?? raised)
  }
  return {
    read: async () => read(),
    async raise(_conversation, more) {
      const known = read() ?? NOTHING_TOLD
      const mark = joinMarks(known, more)
      if (isSame(mark, known)) return
      raised = mark
      try {
        replaceFile(`${path}${BEYOND}`, JSON.stringify(toStored(mark.beyond)))
        replaceFile(path, `${mark.until}\n`)
      } catch {
        // A full disk fails elsewhere, where somebody can act on it.
      }
    },
  }
}

/**
 * A label as the name of a file or document. Any text can be a label: a long one, or one that is not plain, becomes a
 * digest.
 */
function toPlainName(label: string): string {
  return /^\w{1,64}$/.test(label)
    ? label
    : `.${createHash("sha256").update(label, "utf16le").digest("hex").slice(0, 32)}`
}

/** Beside the file of the mark, and in the id of a document that is deleted with its conversation. */
const BEYOND = ".beyond"

/** A kill leaves the old text or the new one. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.next`, text, { mode: 0o600 })
  renameSync(`${path}.next`, path)
}

function readMark(path: string): ToldMark | undefined {
  const until = tryToRead(() => Number(readFileSync(path, "utf8")))
  if (until === undefined || !Number.isFinite(until)) return undefined
  const beyond = tryToRead(() => JSON.parse(readFileSync(`${path}${BEYOND}`, "utf8")) as JsonValue)
  return { until, beyond: fromStored(beyond) }
}

function tryToRead<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** One mark for each conversation, as a document: a shared store is opened from many folders. */
export function createStoredMarks(
  store: Pick<TaskStore, "session" | "document" | "commit">,
  { workspace, actor }: DeskOwner,
): ToldMarks {
  const toDocumentId = (conversation: SessionId): string =>
    actor === UNNAMED_ACTOR ? conversation : `${conversation}/${toPlainName(actor)}`
  const toBeyondId = (conversation: SessionId): string => `${conversation}/${toPlainName(actor)}${BEYOND}`

  async function readKept(conversation: SessionId) {
    const [until, beyond] = await Promise.all([
      store.document(workspace, TOLD_MARKS, toDocumentId(conversation)),
      store.document(workspace, TOLD_MARKS, toBeyondId(conversation)),
    ])
    const mark = until && { until: Number(until.value), beyond: fromStored(beyond?.value) }
    return { mark, versions: { until: until?.version ?? 0, beyond: beyond?.version ?? 0 } }
  }

  return {
    async read(conversation) {
      const record = await store.session(conversation)
      if (record?.workspace !== workspace) return undefined
      const { mark } = await readKept(conversation)
      return mark ?? { until: record.createdAt, beyond: [] }
    },
    async raise(conversation, more) {
      const record = await store.session(conversation)
      if (record?.workspace !== workspace) return
      for (;;) {
        const { mark: before = NOTHING_TOLD, versions } = await readKept(conversation)
        const { until, beyond } = joinMarks(before, more)
        if (isSame({ until, beyond }, before)) return
        const put = { op: "document.put", workspace, collection: TOLD_MARKS } as const
        const [id, beyondId] = [toDocumentId(conversation), toBeyondId(conversation)]
        try {
          await store.commit([
            { ...put, id, value: until, expectedVersion: versions.until },
            ...(beyond.length + versions.beyond === 0
              ? []
              : [{ ...put, id: beyondId, value: toStored(beyond), expectedVersion: versions.beyond }]),
          ])
          return
        } catch (error) {
          // Another process has raised the mark too: read it again.
          if (!isMeanwhileError(error, "version_conflict")) throw error
        }
      }
    },
  }
}
