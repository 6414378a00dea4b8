import { dirname } from "node:path"

/** The folder in which a worker keeps its spool beside everything else. */
export function toDataFolder(spoolPlace: string): string {
  return dirname(toSpoolFolder(spoolPlace))
}

/** Before it stands which start of the machine it is. */
export function toSpoolFolder(spoolPlace: string): string {
  return spoolPlace.slice(spoolPlace.indexOf(" ") + 1)
}
