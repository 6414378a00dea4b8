import type { JsonObject, JsonValue } from "../base/json.ts"
import type { WorkerId, WorkspaceId } from "./id.ts"

/** Before the id of a worker, the key of its lease. */
export const WORKER_LEASE_PREFIX = "worker:"

/**
 * Where workers say what they can run: a document under the id of each, which counts for as long as its lease lives.
 */
export const ANNOUNCEMENTS = { workspace: "#runtime" as WorkspaceId, collection: "workers" } as const

/** A worker that lives, as the store knows it. */
export interface WorkerRecord {
  readonly id: WorkerId
  /** Facts about its process, from its lease. */
  readonly process: JsonObject
  /** The abilities it announced; null if it announced none. */
  readonly announcement: JsonValue
  /** How many tasks it runs, without turns, which take no slot. */
  readonly running: number
}
