import type { Desk } from "../../desk/desk.ts"
import { formatDuration } from "../format/format.ts"

type Counts = Awaited<ReturnType<Desk["tasks"]["counts"]>>

/** `2 running, 5 queued (the oldest for 3 min 2 s)`; empty when there is nothing to count. */
export function formatCounts({ byStatus, queueAgeMs }: Counts): string {
  const { running, queued, waiting, stopping, ...ended } = byStatus
  const age = queueAgeMs === null ? "" : ` (the oldest for ${formatDuration(queueAgeMs)})`
  return Object.entries({ running, queued, waiting, stopping, ...ended })
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status.replaceAll("_", " ")}${status === "queued" ? age : ""}`)
    .join(", ")
}
