import { dirname, resolve } from "node:path"
import type { JsonObject } from "../../base/json.ts"
import type { Engine } from "../../task/engine.ts"
import { readBootId } from "../process/identity.ts"
import { readDataFolderId } from "./data-folder-id.ts"

/** Where a worker keeps what its processes print and leave, beside everything else of its data folder. */
export interface SpoolHome {
  /** The boot id and the spool folder: equal for all processes that see the same files and the same pids. */
  readonly spoolPlace: string
  /** Null when the folder can keep no id, or when the store is embedded: then there is no other data folder. */
  readonly dataFolderId: string | null
}

export async function openSpoolHome({ name }: Pick<Engine, "name">, spoolDirectory: string): Promise<SpoolHome> {
  const spoolPlace = `${readBootId()} ${resolve(spoolDirectory)}`
  return { spoolPlace, dataFolderId: name === "embedded" ? null : await readDataFolderId(toDataFolder(spoolPlace)) }
}

/** The home as a lease holds it. */
export function toHomeData({ spoolPlace, dataFolderId }: SpoolHome): JsonObject {
  return { spool: spoolPlace, ...(dataFolderId !== null && { dataFolderId }) }
}

/** The folder in which a worker keeps its spool beside everything else. */
export function toDataFolder(spoolPlace: string): string {
  return dirname(toSpoolFolder(spoolPlace))
}

/** The folder of a spool place, without the boot id before it. */
export function toSpoolFolder(spoolPlace: string): string {
  return spoolPlace.slice(spoolPlace.indexOf(" ") + 1)
}
