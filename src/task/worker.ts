import type { JsonObject, JsonValue } from "../base/json.ts"
import type { WorkerId, WorkspaceId } from "./id.ts"

/** The key of a worker's lease is this prefix followed by the worker's id. */
export const WORKER_LEASE_PREFIX = "worker:"

/**
 * Where workers announce what they can run: one document under the id of each, which counts for as long as its lease
 * lives.
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
