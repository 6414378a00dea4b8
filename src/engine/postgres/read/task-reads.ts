import type { Clock } from "../../../base/clock.ts"
import type { TaskId } from "../../../task/id.ts"
import type { TaskRecord } from "../../../task/record.ts"
import type { TaskStore } from "../../../task/store.ts"
import { parseEarlierRun, parseInput, SUMMARY_COLUMNS, type TaskRow, toStoredTask } from "../../rules/rows/task-row.ts"
import { toTaskRecord } from "../../rules/tables.ts"
import type { Query } from "../connection/database.ts"
import { isStorable } from "../schema/storable.ts"
import { createConditions, demandPrefix, toLimit } from "./conditions.ts"
import { createSharedReads } from "./shared-reads.ts"

const COLUMNS = `${SUMMARY_COLUMNS}, patch, metadata, input`

const TASKS = { name: "tasks", text: `SELECT ${COLUMNS} FROM tasks WHERE id = ANY ($1::text[])` }

const RUN = {
  name: "run",
  text: `SELECT ${COLUMNS}, (SELECT record FROM runs WHERE task = tasks.number AND run = $2) AS earlier
    FROM tasks WHERE id = $1`,
}

/** Counts the runs ahead that a worker would be offered now. Without a clock, the server's time counts. */
const PLACE_IN_QUEUE = {
  name: "place in queue",
  text: `SELECT (SELECT count(*) FROM tasks WHERE status = 'queued' AND kind <> 'turn'
      AND (available_at <= queued_at OR available_at <= coalesce($2, extract(epoch FROM clock_timestamp()) * 1000))
      AND (priority > own.priority
        OR (priority = own.priority AND (queued_at, number) < (own.queued_at, own.number)))) AS ahead
    FROM tasks own WHERE id = $1 AND status = 'queued'`,
}

export function createTaskReads(
  query: Query,
  clock: Clock | undefined,
): Pick<TaskStore, "task" | "run" | "findByPrefix" | "placeInQueue"> {
  const readRow = createSharedReads(async (ids: readonly TaskId[]) => {
    const rows = await query<TaskRow>(TASKS, [ids])
    return new Map(rows.map((row) => [row.id, row]))
  })
  return {
    async task(id) {
      const row = isStorable(id) ? await readRow(id) : undefined
      return row && toRecord(row)
    },
    async run(id, run) {
      const [row] = await query<TaskRow & { earlier: string | null }>(RUN, [id, run])
      if (!row) return undefined
      if (row.run === run) return toRecord(row)
      return row.earlier === null ? undefined : parseEarlierRun(row.earlier)
    },
    async findByPrefix(workspace, prefix, limit) {
      const conditions = createConditions()
      demandPrefix(conditions, "id", prefix)
      conditions.match("workspace", workspace)
      const text = `SELECT id FROM tasks${conditions.where()} ORDER BY id LIMIT ${conditions.bind(toLimit(limit))}`
      return (await query<{ id: TaskId }>(text, conditions.values)).map(({ id }) => id)
    },
    async placeInQueue(id) {
      const [row] = await query<{ ahead: number }>(PLACE_IN_QUEUE, [id, clock?.now() ?? null])
      return row && row.ahead + 1
    },
  }
}

function toRecord(row: TaskRow): TaskRecord {
  const text = { input: row.input ?? "null", metadata: row.metadata ?? "{}" }
  return toTaskRecord(toStoredTask(row, parseInput(text), false))
}
