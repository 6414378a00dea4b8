import type { JsonValue } from "../../../base/json.ts"
import type { DocumentRecord } from "../../../task/document.ts"

export type DocumentRow = Omit<DocumentRecord, "value" | "updatedAt"> & {
  readonly updated_at: number
  readonly value: string
}

export function toDocument({ workspace, collection, id, version, updated_at, value }: DocumentRow): DocumentRecord {
  return { workspace, collection, id, version, updatedAt: updated_at, value: JSON.parse(value) as JsonValue }
}
