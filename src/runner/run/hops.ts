import type { JsonObject } from "../../base/json.ts"

/** Where a record keeps how many reports lie between its task and a person's words. */
export const HOPS = "hops"

export function toHops(metadata: JsonObject): number {
  const kept = metadata[HOPS]
  return typeof kept === "number" ? kept : 0
}

export function withHops(metadata: JsonObject, hops: number): JsonObject {
  return hops > 0 ? { ...metadata, [HOPS]: hops } : metadata
}
