import { MeanwhileError } from "../../base/error.ts"
import type { JsonObject } from "../../base/json.ts"
import type { TaskRecord } from "../../task/record.ts"

/** Where a record keeps how many reports lie between its task and a person's words. */
export const HOPS = "hops"

export function toHops(metadata: JsonObject): number {
  const kept = metadata[HOPS]
  return typeof kept === "number" ? kept : 0
}

export function hopsOf(task: { readonly hops: number } | TaskRecord): number {
  return "metadata" in task ? toHops(task.metadata) : task.hops
}

export function withHops(metadata: JsonObject, hops: number): JsonObject {
  return hops > 0 ? { ...metadata, [HOPS]: hops } : metadata
}

/** Refuses a start that follows from a report at its last hop: the agent then tells the person instead. */
export function requireHopsLeft(
  { maxHops }: { readonly maxHops: number },
  { hops, tool }: { readonly hops: number; readonly tool: { readonly name: string } },
): void {
  if (hops === 0 || hops < maxHops) return
  const message = `${tool.name} can start nothing in the background here: this is report ${hops} of ${maxHops} that followed from one another. Tell the person what you found, and let them ask for more.`
  throw new MeanwhileError("limit_exceeded", message, { limit: "maxHops", hops })
}
