import { createHash } from "node:crypto"
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { isMeanwhileError } from "../base/error.ts"
import { TOLD_MARKS } from "../session/saved/documents.ts"
import { DEFAULT_WORKSPACE, type SessionId } from "../task/id.ts"
import type { TaskStore } from "../task/store.ts"
import type { DeskOwner } from "./desk-options.ts"

/** Marks of the person at the terminal have no name: they were kept before there were actors. */
const UNNAMED_ACTOR = "person"

/** The name of a file or folder in which a data folder keeps something of one actor. */
export function toActorName(what: string, actor: string): string {
  return actor === UNNAMED_ACTOR ? what : `${what}-${toPlainName(actor)}`
}

/** Up to which time an actor was told of ended tasks. A mark never moves back. */
export interface ToldMarks {
  /** Undefined: nobody was told anything yet, and so nothing was missed. */
  read(conversation: SessionId): Promise<number | undefined>
  /** Best effort: if a mark is lost, an end is shown twice. */
  raise(conversation: SessionId, endedAt: number): Promise<void>
}

/** One mark for all conversations of a workspace, in a file beside the store. */
export function createFileMarks(folder: string, { workspace, actor }: DeskOwner): ToldMarks {
  const ofWorkspace = workspace === DEFAULT_WORKSPACE ? "" : `@${toPlainName(workspace)}`
  const path = `${folder}/${toActorName("announced", actor)}${ofWorkspace}`
  /** The mark that this process has reached: a full disk keeps no file. */
  let raised: number | undefined
  const read = (): number | undefined => {
    const kept = readMark(path)
    return kept === undefined || raised === undefined ? (kept ?? raised) : Math.max(kept, raised)
  }
  return {
    read: async () => read(),
    async raise(_conversation, endedAt) {
      if (endedAt <= (read() ?? 0)) return
      raised = endedAt
      try {
        // Renamed, so that a kill leaves the old mark or the new one.
        writeFileSync(`${path}.next`, `${endedAt}\n`, { mode: 0o600 })
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

function readMark(path: string): number | undefined {
  try {
    const value = Number(readFileSync(path, "utf8"))
    return Number.isFinite(value) ? value : undefined
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
      return known ? Number(known.value) : record.createdAt
    },
    async raise(conversation, endedAt) {
      const record = await store.session(conversation)
      if (record?.workspace !== workspace) return
      const id = toDocumentId(conversation)
      for (;;) {
        const known = await store.document(workspace, TOLD_MARKS, id)
        if (Number(known?.value ?? 0) >= endedAt) return
        const put = { op: "document.put", workspace, collection: TOLD_MARKS, id, value: endedAt } as const
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
