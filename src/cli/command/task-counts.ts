import { BACKGROUND_KINDS, formatDuration } from "../format.ts"
import type { TaskContext } from "./command.ts"

type Counts = Awaited<ReturnType<TaskContext["meanwhile"]["tasks"]["counts"]>>

const LIVE = ["running", "queued", "waiting", "stopping"] as const

/** Of all statuses. */
export function countAll({ tasks }: TaskContext["meanwhile"]): Promise<Counts> {
  return tasks.counts({ kinds: BACKGROUND_KINDS })
}

/** Only of what lives: that is quick, however much has ended. */
export function countLive({ tasks }: TaskContext["meanwhile"]): Promise<Counts> {
  return tasks.counts({ kinds: BACKGROUND_KINDS, statuses: LIVE })
}

/** `2 running, 5 queued (the oldest for 3 min 2 s)`; empty when there is nothing to count. */
export function formatCounts({ byStatus, queueAgeMs }: Counts): string {
  const { running, queued, waiting, stopping, ...ended } = byStatus
  const age = queueAgeMs === null ? "" : ` (the oldest for ${formatDuration(queueAgeMs)})`
  return Object.entries({ running, queued, waiting, stopping, ...ended })
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status.replaceAll("_", " ")}${status === "queued" ? age : ""}`)
    .join(", ")
}
