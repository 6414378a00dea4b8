import type { JsonValue } from "../../../base/json.ts"
import type { DocumentRecord } from "../../../task/document.ts"
import type { WorkspaceId } from "../../../task/id.ts"

export interface DocumentRow {
  readonly workspace: WorkspaceId
  readonly collection: string
  readonly id: string
  readonly version: number
  readonly updated_at: number
  readonly value: string
}

export function toDocument({ workspace, collection, id, version, updated_at, value }: DocumentRow): DocumentRecord {
  return { workspace, collection, id, version, updatedAt: updated_at, value: JSON.parse(value) as JsonValue }
}
