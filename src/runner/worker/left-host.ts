import { hostname } from "node:os"
import { dirname } from "node:path"
import type { JsonObject } from "../../base/json.ts"
import type { Lease } from "../../task/lease.ts"

/**
 * Where several machines share a store, a worker that is stopped leaves its lease, for long, to what outlives it: the next
 * worker of the same data folder takes that over, and nobody else. No process is named, so that none is missed.
 */
export function toLeftData({ host = null, spool = null }: JsonObject): JsonObject {
  return { host, spool, left: true }
}

export function isLeftForHost({ data }: Partial<Pick<Lease, "data">>): boolean {
  return data?.["left"] === true
}

/** Also after the machine was started anew: what ran there has ended then, and its files say how. */
export function isOfThisHost({ data = {} }: Partial<Pick<Lease, "data">>, spoolPlace: string): boolean {
  const { host, spool } = data
  if (typeof spool !== "string") return false
  return spool === spoolPlace || (host === hostname() && toFolder(spool) === toFolder(spoolPlace))
}

/** The folder in which a worker keeps its spool beside everything else. */
export function toDataFolder(spoolPlace: string): string {
  return dirname(toFolder(spoolPlace))
}

/** Before it stands which start of the machine it is. */
function toFolder(spoolPlace: string): string {
  return spoolPlace.slice(spoolPlace.indexOf(" ") + 1)
}
