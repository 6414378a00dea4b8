import type { TaskEventBody } from "../../../../task/event.ts"
import type { EventTable, ArtifactTable } from "../../../rules/tables.ts"
import { createLog, type UndoLog } from "./memory.ts"
import type { ArtifactRecord } from "../../../../task/document.ts"
import { toKey } from "./wants.ts"

export interface AppendedEvent {
  readonly task: number
  readonly sequence: number
  readonly run: number
  readonly at: number
  readonly body: TaskEventBody
}

/** The removal of a task's events before this sequence number. */
export interface EventRemoval {
  readonly task: number
  readonly before: number
}

/** The rules add and remove events and artifacts without looking at them, so none is ever loaded. */
export interface EventRows {
  readonly table: EventTable
  removals(): readonly EventRemoval[]
  /** The events that are appended and not removed again. */
  appended(): readonly AppendedEvent[]
}

export function createEventRows(undo: UndoLog): EventRows {
  const appended = createLog<AppendedEvent>(undo)
  const removals = createLog<EventRemoval>(undo)
  const table: EventTable = {
    append: (task, sequence, run, at, body) => appended.add({ task, sequence, run, at, body }),
    removeBefore: (task, before) => removals.add({ task, before }),
    remove: (task) => removals.add({ task, before: Number.MAX_SAFE_INTEGER }),
  }
  return {
    table,
    removals: removals.entries,
    appended() {
      const removed = removals.entries()
      if (removed.length === 0) return appended.entries()
      const before = new Map<number, number>()
      for (const removal of removed) before.set(removal.task, Math.max(removal.before, before.get(removal.task) ?? 0))
      return appended.entries().filter(({ task, sequence }) => sequence >= (before.get(task) ?? 0))
    },
  }
}

type Artifact = Omit<ArtifactRecord, "taskId">

/** Bytes that were put, and the tasks that keep them. */
interface PutArtifact {
  readonly artifact: Artifact
  /** True if the bytes were put without a task: nothing ever removes them. */
  readonly isKept: boolean
  readonly owners: readonly number[]
}

/** A task that keeps bytes which were put before, if they are there. */
interface Ownership extends Pick<Artifact, "workspace" | "hash"> {
  readonly task: number
}

export interface ArtifactRows {
  readonly table: ArtifactTable
  /** Tasks that keep no artifacts any more. */
  removals(): readonly number[]
  /** Each artifact once, without those that lost their last owner again. */
  put(): readonly PutArtifact[]
  /** Without those of tasks that were removed. */
  owned(): readonly Ownership[]
}

export function createArtifactRows(undo: UndoLog): ArtifactRows {
  const puts = createLog<{ readonly artifact: Artifact; readonly task: number | null }>(undo)
  const ownerships = createLog<Ownership>(undo)
  const removals = createLog<number>(undo)
  const table: ArtifactTable = {
    put: (artifact, task) => puts.add({ artifact, task }),
    own: (workspace, hash, task) => ownerships.add({ workspace, hash, task }),
    removeOwner: removals.add,
  }
  return {
    table,
    removals: removals.entries,
    /** A task that was removed puts nothing afterwards, so the order of puts and removals does not matter. */
    put() {
      const removed = new Set(removals.entries())
      const byHash = Map.groupBy(puts.entries(), ({ artifact }) => toKey([artifact.workspace, artifact.hash]))
      return Array.from(byHash.values()).flatMap((same) => {
        const [first] = same
        if (!first) return []
        const tasks = new Set(same.map(({ task }) => task))
        const owners = [...tasks].filter((task) => task !== null && !removed.has(task)) as number[]
        const isKept = tasks.has(null)
        return isKept || owners.length > 0 ? [{ artifact: first.artifact, isKept, owners }] : []
      })
    },
    owned() {
      const removed = new Set(removals.entries())
      return ownerships.entries().filter(({ task }) => !removed.has(task))
    },
  }
}
