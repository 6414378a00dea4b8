import type { DatabaseSync } from "node:sqlite"
import type { Clock } from "../../../base/clock.ts"
import type { TaskId, WorkspaceId } from "../../../task/id.ts"
import { LIMIT, prepare } from "../sqlite/statement.ts"

export interface TaskLookup {
  findByPrefix(workspace: WorkspaceId, prefix: string, limit: number): readonly TaskId[]
  placeInQueue(id: TaskId): number | undefined
}

export function createTaskLookup(database: DatabaseSync, clock: Clock): TaskLookup {
  const byPrefix = prepare<{ id: TaskId }>(
    database,
    `SELECT id FROM tasks WHERE id >= ?1 AND id < ?1 || char(0x10ffff) AND +workspace = ?2 ORDER BY id ${LIMIT}`,
  )
  const queued = prepare<{ priority: number; queued_at: number; number: number }>(
    database,
    "SELECT priority, queued_at, number FROM tasks WHERE id = ? AND status = 'queued'",
  )
  const ahead = prepare<{ count: number }>(
    database,
    `SELECT count(*) AS count FROM tasks INDEXED BY tasks_queue
     WHERE status = 'queued' AND kind <> 'turn' AND (available_at <= ?1 OR available_at <= queued_at)
     AND (priority > ?2 OR (priority = ?2 AND (queued_at, number) < (?3, ?4)))`,
  )
  return {
    findByPrefix: (workspace, prefix, limit) => byPrefix.all(prefix, workspace, limit).map(({ id }) => id),
    placeInQueue(id) {
      const task = queued.get(id)
      return task && 1 + (ahead.get(clock.now(), task.priority, task.queued_at, task.number)?.count ?? 0)
    },
  }
}
