import { hostname } from "node:os"
import type { JsonObject } from "../../base/json.ts"
import type { Lease } from "../../task/lease.ts"
import { toSpoolFolder, type SpoolHome } from "./spool-home.ts"

/**
 * Where several machines share a store, a worker that is stopped leaves its lease, for long, to what outlives it: the
 * next worker of the same data folder takes that over, and nobody else. No process is named, so that none is missed.
 */
export function toLeftData({ host = null, spool = null, dataFolderId }: JsonObject): JsonObject {
  return { host, spool, ...(dataFolderId !== undefined && { dataFolderId }), left: true }
}

export function isLeftForHost({ data }: Partial<Pick<Lease, "data">>): boolean {
  return data?.["left"] === true
}

/**
 * Also after the machine was started anew, and where the folder was brought to another one: what ran has ended then,
 * and its files say how. Names of machines and paths are the same in many containers: they count where a folder has no
 * id, as those of earlier versions.
 */
export function isOfThisHost({ data = {} }: Partial<Pick<Lease, "data">>, own: SpoolHome): boolean {
  const { host, spool } = data
  if (typeof spool !== "string") return false
  if (isTold(data, own)) return data["dataFolderId"] === own.dataFolderId
  return spool === own.spoolPlace || (host === hostname() && toSpoolFolder(spool) === toSpoolFolder(own.spoolPlace))
}

/** True if a worker that died used this spool: the processes it left are those that are seen here. */
export function hasSameSpool(data: JsonObject, own: SpoolHome): boolean {
  return data["spool"] === own.spoolPlace && (!isTold(data, own) || data["dataFolderId"] === own.dataFolderId)
}

function isTold(data: JsonObject, { dataFolderId }: SpoolHome): boolean {
  return dataFolderId !== null && typeof data["dataFolderId"] === "string"
}
