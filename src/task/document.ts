import type { JsonValue } from "../base/json.ts"
import type { ArtifactHash, TaskId, WorkspaceId } from "./id.ts"

/** A stored value that the engine has no rules for: durations, definitions, keys, schedules. */
export interface DocumentRecord {
  readonly workspace: WorkspaceId
  readonly collection: string
  readonly id: string
  readonly version: number
  readonly updatedAt: number
  readonly value: JsonValue
}

/** Bytes kept by hash and referred to, never put into a prompt. */
export interface ArtifactRecord {
  readonly workspace: WorkspaceId
  readonly hash: ArtifactHash
  readonly mediaType: string
  readonly taskId: TaskId | null
  readonly bytes: Uint8Array
}
