import type { DocumentRecord } from "../../../../task/document.ts"
import type { DocumentTable } from "../../../rules/tables.ts"
import { type Changed, createMemory, type UndoLog } from "./memory.ts"
import { type DocumentKey, missing, toKey } from "./wants.ts"

/** A document. Its value need not be loaded, since writes only ever replace it. */
export type DocumentEntry = DocumentKey & Pick<DocumentRecord, "version"> & Partial<DocumentRecord>

export interface DocumentRows {
  readonly table: DocumentTable
  learn(key: DocumentKey, version: number | undefined): void
  changes(): readonly Changed<DocumentEntry>[]
}

export function createDocumentRows(undo: UndoLog): DocumentRows {
  const documents = createMemory<DocumentEntry>(undo)

  function placeOf(key: DocumentKey): string {
    const place = toPlace(key)
    if (!documents.isKnown(place)) throw missing("document", key)
    return place
  }

  const table: DocumentTable = {
    versionOf: (workspace, collection, id) => documents.get(placeOf({ workspace, collection, id }))?.version ?? 0,
    save: (document) => documents.set(toPlace(document), document),
    remove: (workspace, collection, id) => documents.set(placeOf({ workspace, collection, id }), undefined),
  }

  return {
    table,
    learn: (key, version) => documents.learn(toPlace(key), version === undefined ? undefined : { ...key, version }),
    changes: documents.changes,
  }
}

function toPlace({ workspace, collection, id }: DocumentKey): string {
  return toKey([workspace, collection, id])
}
