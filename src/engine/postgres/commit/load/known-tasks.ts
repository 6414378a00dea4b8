import { createLiveMap } from "../../../../base/live-map.ts"
import { toRoughBytes } from "../../../../base/rough-size.ts"
import type { TaskId } from "../../../../task/id.ts"
import type { TaskDetails } from "../../../../task/record.ts"
import { isStorable } from "../../schema/storable.ts"
import type { Changed } from "../working-set/memory.ts"
import type { TaskEntry } from "../working-set/task-rows.ts"

/**
 * Running tasks as the last transaction of this process that touched them has left them. Whoever locks one whose row is of
 * the same version still need not read it again: what runs here is written here, again and again.
 */
export interface KnownTasks {
  find(id: TaskId): KnownTask | undefined
  /** After a transaction was committed: its version, if it is known, and what it has changed. */
  learn(version: string | undefined, changes: readonly Changed<TaskEntry>[]): void
}

export interface KnownTask {
  readonly entry: TaskEntry
  /** The transaction that wrote its row, and the start of the server that it was on. */
  readonly version: string
}

interface Kept extends KnownTask {
  /** About, of what can be large; of its details alone, and with what was told of it. */
  readonly detailsBytes: number
  readonly bytes: number
}

/** Beyond either, those that were not touched for longest are forgotten. */
const MOST_TASKS = 1_000
const MOST_BYTES = 16 * 1_024 * 1_024

export function createKnownTasks(): KnownTasks {
  const known = createLiveMap<TaskId, Kept>()
  let keptBytes = 0

  function forget(id: TaskId): void {
    const kept = known.get(id)
    if (!kept) return
    known.delete(id)
    keptBytes -= kept.bytes
  }

  /** One that alone is too much would only drive out the others. */
  function keep(entry: TaskEntry, version: string, earlier: Kept | undefined): void {
    const { details, course } = entry.task
    const isMeasured = earlier?.entry.task.details === details
    const detailsBytes = isMeasured ? earlier.detailsBytes : measure(details)
    const bytes = detailsBytes + toRoughBytes(course.progress)
    if (bytes > MOST_BYTES) return
    known.set(details.id, { entry, version, detailsBytes, bytes })
    keptBytes += bytes
  }

  function isTooMuch(): boolean {
    return known.size > MOST_TASKS || keptBytes > MOST_BYTES
  }

  return {
    find: (id) => known.get(id),
    learn(version, changes) {
      for (const { before, after } of changes) {
        const id = (before ?? after)?.task.details.id
        if (id === undefined) continue
        const earlier = known.get(id)
        forget(id)
        if (!after || version === undefined || after.task.state.status !== "running") continue
        // The store has another title, with signs in place of what it cannot keep.
        if (isStorable(after.task.details.title)) keep(after, version, earlier)
      }
      if (!isTooMuch()) return
      for (const { entry } of known.values()) if (isTooMuch()) forget(entry.task.details.id)
    },
  }
}

function measure({ title, input, metadata }: TaskDetails): number {
  return toRoughBytes([title, input, metadata])
}

/**
 * The version of what a transaction writes: its number, as rows have it in `xmin`, and the start of the server. The numbers
 * are those of one server; another that takes its place may give them out again.
 */
export const VERSION = "pg_current_xact_id()::xid::text || ' ' || pg_postmaster_start_time()::text"

/** The version of a row that `writer` has written, seen by a transaction of the other version. */
export function toVersion(writer: string, seenBy: string): string {
  return writer + seenBy.slice(seenBy.indexOf(" "))
}
