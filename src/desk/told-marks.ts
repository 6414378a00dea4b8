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

/** The time in the first line, and one line for each end beyond it. */
function formatMark({ until, beyond }: ToldMark): string {
  return [until, ...beyond.map(({ id, endedAt }) => `${endedAt} ${id}`)].map((line) => `${line}\n`).join("")
}

/** Undefined: this is no mark. A number is one without ends beyond it. */
function parseMark(kept: JsonValue): ToldMark | undefined {
  if (typeof kept === "number") return { until: kept, beyond: [] }
  if (typeof kept !== "string") return undefined
  const [first, ...lines] = kept.split("\n")
  const until = Number(first)
  const beyond = lines.flatMap((line) => {
    const [endedAt, id = ""] = line.split(" ")
    return id === "" ? [] : [{ id: id as TaskId, endedAt: Number(endedAt) }]
  })
  return [until, ...beyond.map(({ endedAt }) => endedAt)].every(Number.isFinite) ? { until, beyond } : undefined
}

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
      if (formatMark(mark) === formatMark(known)) return
      raised = mark
      try {
        // Renamed, so that a kill leaves the old mark or the new one.
        writeFileSync(`${path}.next`, formatMark(mark), { mode: 0o600 })
        renameSync(`${path}.next`, path)
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

function readMark(path: string): ToldMark | undefined {
  try {
    return parseMark(readFileSync(path, "utf8"))
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
  return {
    async read(conversation) {
      const record = await store.session(conversation)
      if (record?.workspace !== workspace) return undefined
      const known = await store.document(workspace, TOLD_MARKS, toDocumentId(conversation))
      return known ? parseMark(known.value) : { until: record.createdAt, beyond: [] }
    },
    async raise(conversation, more) {
      const record = await store.session(conversation)
      if (record?.workspace !== workspace) return
      const id = toDocumentId(conversation)
      for (;;) {
        const known = await store.document(workspace, TOLD_MARKS, id)
        const before = (known && parseMark(known.value)) ?? NOTHING_TOLD
        const value = formatMark(joinMarks(before, more))
        if (value === formatMark(before)) return
        const put = { op: "document.put", workspace, collection: TOLD_MARKS, id, value } as const
        try {
          await store.commit([{ ...put, expectedVersion: known?.version ?? 0 }])
          return
        } catch (error) {
          // Another process has raised the mark too: read it again.
          if (!isMeanwhileError(error, "version_conflict")) throw error
        }
      }
    },
  }
}
