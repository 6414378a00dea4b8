import { join } from "node:path"
import type { Task, TaskId } from "../format/format.ts"
import { createIdFiles, type IdFiles, toStoreFolder } from "../../desk/id-files.ts"

type SessionId = NonNullable<Task["session"]>

/** The work that was begun with this data folder, in a store that others share. */
export interface BegunHere {
  readonly conversations: IdFiles<SessionId>
  /** Tasks that belong to no conversation. */
  readonly tasks: IdFiles<TaskId>
}

/** The part of a shared store that belongs to this person. */
export interface OwnWork extends Pick<BegunHere, "tasks"> {
  readonly conversations: readonly SessionId[]
}

export function openBegunHere(dataDirectory: string, storePlace: string): BegunHere {
  const folder = toStoreFolder(dataDirectory, "begun", storePlace)
  return {
    conversations: createIdFiles(join(folder, "conversations")),
    tasks: createIdFiles(join(folder, "tasks")),
  }
}
