import { dirname, resolve } from "node:path"
import type { JsonObject } from "../../base/json.ts"
import type { Engine } from "../../task/engine.ts"
import { readBootId } from "../process/identity.ts"
import { readDataFolderId } from "./data-folder-id.ts"

/** Where a worker keeps what its processes print and leave, beside everything else of its data folder. */
export interface SpoolHome {
  /** Which folder of which start of the machine: the same for those who would find it there. */
  readonly spoolPlace: string
  /** Null: nothing can be kept in it, or nobody else could have another one. */
  readonly dataFolderId: string | null
}

/** An embedded store has one data folder. */
export async function openSpoolHome({ name }: Pick<Engine, "name">, spoolDirectory: string): Promise<SpoolHome> {
  const spoolPlace = `${readBootId()} ${resolve(spoolDirectory)}`
  return { spoolPlace, dataFolderId: name === "embedded" ? null : await readDataFolderId(toDataFolder(spoolPlace)) }
}

/** As a lease tells it. */
export function toHomeData({ spoolPlace, dataFolderId }: SpoolHome): JsonObject {
  return { spool: spoolPlace, ...(dataFolderId !== null && { dataFolderId }) }
}

/** The folder in which a worker keeps its spool beside everything else. */
export function toDataFolder(spoolPlace: string): string {
  return dirname(toSpoolFolder(spoolPlace))
}

/** Before it stands which start of the machine it is. */
export function toSpoolFolder(spoolPlace: string): string {
  return spoolPlace.slice(spoolPlace.indexOf(" ") + 1)
}
