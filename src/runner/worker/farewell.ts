import type { WorkerId } from "../../task/id.ts"
import type { OperationOf } from "../../task/operation.ts"
import { ANNOUNCEMENTS } from "../../task/worker.ts"

/** Takes back what a worker has announced, in the commit that ends its lease. */
export function toFarewell(id: WorkerId): OperationOf<"document.delete"> {
  return { op: "document.delete", ...ANNOUNCEMENTS, id }
}
