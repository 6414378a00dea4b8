import type { JsonObject } from "../../base/json.ts"
import type { WorkerPlace, WorkerView } from "../../plugin/worker-view.ts"
import type { WorkerId } from "../../task/id.ts"
import { WORKER_LEASE_PREFIX } from "../../task/worker.ts"
import { readBootId } from "../process/identity.ts"
import type { TaskStore } from "../../task/store.ts"
import { parseAnnouncement } from "./announcement.ts"
import { isLeftForHost } from "./left-host.ts"
import { isEndingWhenIdle, isTaker } from "./worker-identity.ts"

/** All workers, in one query, the longest at work first. Leaves out stopped workers that left something running. */
export async function listWorkers({ store }: { readonly store: TaskStore }): Promise<readonly WorkerView[]> {
  const records = (await store.workers()).filter(({ process }) => !isLeftForHost({ data: process }))
  const views = records.map(
    ({ id, process, announcement, running }): WorkerView => ({
      ...toPlace(id, process, false),
      running,
      endsWhenIdle: isEndingWhenIdle(process),
      isStarting: announcement === null && isTaker(process),
      announcement: parseAnnouncement(announcement),
    }),
  )
  const sinceOf = ({ announcement }: WorkerView): number => announcement?.since ?? 0
  return views.toSorted((one, other) => sinceOf(one) - sinceOf(other))
}

/** Where a worker runs; null when it is gone. */
export async function findWorker({ store }: { readonly store: TaskStore }, id: WorkerId): Promise<WorkerPlace | null> {
  const key = `${WORKER_LEASE_PREFIX}${id}`
  const lease = (await store.leases(key)).find((each) => each.key === key && each.holder === id)
  return lease ? toPlace(id, lease.data, lease.isSilent) : null
}

function toPlace(id: WorkerId, { host = null, pid = null, bootId }: JsonObject, isSilent: boolean): WorkerPlace {
  const isNear = bootId === readBootId()
  const where = !isNear ? "elsewhere" : pid === process.pid ? "process" : "machine"
  return {
    id,
    host: typeof host === "string" ? host : null,
    pid: typeof pid === "number" ? pid : null,
    where,
    isSilent,
  }
}
