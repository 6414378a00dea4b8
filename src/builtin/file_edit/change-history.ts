import type { BackupStore, RecordedChange } from "./backup-store.ts"
import type { FileState } from "./file-state.ts"
import type { Place } from "./working-root.ts"

/** The newest recorded change that can be seen in the file, if something else has not changed the file since. */
export type LastChange =
  | { readonly state: "in_place"; readonly change: RecordedChange; readonly previous: FileState | undefined }
  | { readonly state: "none" }
  | { readonly state: "overwritten" }

/**
 * Changes at the end whose old content is what the file has now are passed over: a crash kept them from being made, or
 * somebody took them back.
 */
export async function findLastChange(
  backups: BackupStore,
  place: Place,
  current: FileState | undefined,
): Promise<LastChange> {
  const hash = current?.hash ?? null
  for (const change of (await backups.changesOf(place)).toReversed()) {
    if (change.after === hash) {
      return { state: "in_place", change, previous: await backups.contentBefore(place, change) }
    }
    if ((change.before?.hash ?? null) !== hash) return { state: "overwritten" }
  }
  return { state: "none" }
}
