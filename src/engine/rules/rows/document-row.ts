import type { JsonValue } from "../../../base/json.ts"
import type { DocumentRecord } from "../../../task/document.ts"
import type { Columns } from "./columns.ts"

export type DocumentRow = Columns<Omit<DocumentRecord, "value">> & { readonly value: string }

export function toDocument({ workspace, collection, id, version, updated_at, value }: DocumentRow): DocumentRecord {
  return { workspace, collection, id, version, updatedAt: updated_at, value: JSON.parse(value) as JsonValue }
}
