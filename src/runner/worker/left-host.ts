import { hostname } from "node:os"
import type { JsonObject } from "../../base/json.ts"
import type { Lease } from "../../task/lease.ts"
import { toSpoolFolder, type SpoolHome } from "./spool-home.ts"

/**
 * The data of the lease that a stopped worker leaves behind, where several machines share a store. The lease keeps tasks
 * that outlive the worker for the next worker of its data folder, and for nobody else. The data names no process, so that
 * nobody takes the worker for dead.
 */
export function toLeftData({ host = null, spool = null, dataFolderId }: JsonObject): JsonObject {
  return { host, spool, ...(dataFolderId !== undefined && { dataFolderId }), left: true }
}

export function isLeftForHost({ data }: Partial<Pick<Lease, "data">>): boolean {
  return data?.["left"] === true
}

/**
 * True if the lease was left in this worker's data folder. Also true after the machine was restarted or the folder was
 * brought to another machine: the processes have ended then, and their files say how. Many containers share the names of
 * machines and paths, so these count only where a folder has no id, as with earlier versions.
 */
export function isOfThisHost({ data = {} }: Partial<Pick<Lease, "data">>, own: SpoolHome): boolean {
  const { host, spool } = data
  if (typeof spool !== "string") return false
  if (isTold(data, own)) return data["dataFolderId"] === own.dataFolderId
  return spool === own.spoolPlace || (host === hostname() && toSpoolFolder(spool) === toSpoolFolder(own.spoolPlace))
}

/** True if a worker that died used this spool: processes that it left can be seen from here. */
export function hasSameSpool(data: JsonObject, own: SpoolHome): boolean {
  return data["spool"] === own.spoolPlace && (!isTold(data, own) || data["dataFolderId"] === own.dataFolderId)
}

function isTold(data: JsonObject, { dataFolderId }: SpoolHome): boolean {
  return dataFolderId !== null && typeof data["dataFolderId"] === "string"
}
