import type { ArtifactRecord } from "../../../../task/document.ts"
import type { ArtifactTable } from "../../../rules/tables.ts"
import { createLog, type UndoLog } from "./memory.ts"
import { toKey } from "./wants.ts"

type Artifact = Omit<ArtifactRecord, "taskId">

/** Bytes that somebody has put, and who keeps them. */
export interface PutArtifact {
  readonly artifact: Artifact
  /** No task keeps it, so nothing ever removes it. */
  readonly isKept: boolean
  readonly owners: readonly number[]
}

export interface ArtifactRows {
  readonly table: ArtifactTable
  /** Tasks that keep nothing any more. */
  removals(): readonly number[]
  /** Each once, without those that lost their last owner again. */
  put(): readonly PutArtifact[]
}

export function createArtifactRows(undo: UndoLog): ArtifactRows {
  const puts = createLog<{ readonly artifact: Artifact; readonly task: number | null }>(undo)
  const removals = createLog<number>(undo)
  return {
    table: {
      put: (artifact, task) => puts.add({ artifact, task }),
      removeOwner: (task) => removals.add(task),
    },
    removals: removals.entries,
    /** A task that was removed puts nothing afterwards: the order of both does not matter. */
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
  }
}
