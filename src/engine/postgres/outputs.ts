import { setTimeout as wait } from "node:timers/promises"
import { MeanwhileError } from "../../base/error.ts"
import type { TaskId } from "../../task/id.ts"
import type { OutputExtent, OutputPart, Outputs } from "../../task/outputs.ts"
import type { Query } from "./connection/database.ts"
import { closed } from "./connection/patience.ts"
import { createSharedReads } from "./read/shared-reads.ts"

interface Writer {
  readonly part: OutputPart
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The most bytes in one row, which is read as a whole. */
const ROW_BYTES = 64 * 1_024
/** Other writers of the same tasks wait while a group is written. */
const LARGEST_GROUP_BYTES = 1_024 * 1_024
/**
 * The pause before a task is tried again whose row another process holds: that takes a moment, unless the process
 * stands still.
 */
const SHORTEST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 200

/**
 * Writes pieces of one moment by one statement, and tells of them once: a notification for each would keep the whole
 * database waiting. The statement is its own transaction, so that a process that stops in the middle leaves no lock
 * behind. `onWritten` gets the tasks that have printed something that others can read now.
 */
export function createOutputs(query: Query, onWritten: (tasks: readonly TaskId[]) => void) {
  const waiting: Writer[] = []
  const closing = new AbortController()
  let sending: Promise<void> | undefined
  const readExtent = createSharedReads((keys: readonly string[]) => readExtents(query, keys))

  async function send(): Promise<void> {
    let pauseMs = SHORTEST_PAUSE_MS
    /** How many pieces were tried in a row without one of them being written. */
    let triedInVain = 0
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const group = takeGroup()
      const busy = await writeGroup(group).catch((error: unknown) => {
        for (const { reject } of group) reject(error)
        return []
      })
      const isInVain = busy.length === group.length
      triedInVain = isInVain ? triedInVain + group.length : 0
      pauseMs = isInVain ? pauseMs : SHORTEST_PAUSE_MS
      // Behind all other pieces, which need not wait for the holder of these rows.
      if (closing.signal.aborted) for (const { reject } of busy) reject(closed())
      else waiting.push(...busy)
      if (busy.length === 0 || (busy.length < waiting.length && triedInVain < waiting.length)) continue
      await wait(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
      triedInVain = 0
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
    sending = undefined
  }

  /** One statement takes one piece of a run: a second one would not see where the first ends. */
  function takeGroup(): readonly Writer[] {
    let bytes = 0
    const runs = new Set<string>()
    const count = waiting.findIndex(({ part }, index) => {
      bytes += part.bytes.byteLength
      const key = toRunKey(part.run.taskId, part.run.run)
      const isOver = bytes > LARGEST_GROUP_BYTES || runs.has(key)
      runs.add(key)
      return index > 0 && isOver
    })
    return waiting.splice(0, count < 0 ? waiting.length : count)
  }

  /** Returns the pieces whose task's row another process holds: they are to be tried again. */
  async function writeGroup(group: readonly Writer[]): Promise<readonly Writer[]> {
    const rows = group.flatMap(({ part }) => toRows(part))
    let place = 1
    const places = rows.map(({ bytes }) => (place += bytes.byteLength) - bytes.byteLength)
    const states = await query<{ id: string; run: number; fence: number; is_written: boolean }>(APPEND_OUTPUT, [
      rows.map(({ run }) => run.taskId),
      rows.map(({ run }) => run.run),
      rows.map(({ run }) => run.fence),
      rows.map(({ keepFrom }) => keepFrom),
      rows.map(({ start }) => start),
      places,
      rows.map(({ bytes }) => bytes.byteLength),
      Buffer.concat(rows.map(({ bytes }) => bytes)),
    ])
    const stateOf = new Map(states.map(({ id, run, fence, is_written }) => [`${id}/${run}/${fence}`, is_written]))
    const busy: Writer[] = []
    const written = new Set<TaskId>()
    for (const writer of group) {
      const { taskId, run, fence } = writer.part.run
      const isWritten = stateOf.get(`${taskId}/${run}/${fence}`)
      if (isWritten === undefined) writer.reject(staleClaim(taskId))
      else if (!isWritten) busy.push(writer)
      else {
        written.add(taskId)
        writer.resolve()
      }
    }
    if (written.size > 0) onWritten([...written])
    return busy
  }

  const outputs: Outputs = {
    append: (part) =>
      new Promise((resolve, reject) => {
        if (closing.signal.aborted) return reject(closed())
        waiting.push({ part, resolve, reject })
        sending ??= send()
      }),
    async restart({ taskId, run, fence }) {
      const [restart] = await query<{ start: number }>(RESTART_OUTPUT, [taskId, run, fence])
      if (!restart) throw staleClaim(taskId)
      return restart.start
    },
    extent: (taskId, run) => readExtent(toRunKey(taskId, run)),
    async read(taskId, run, start, end) {
      const rows = await query<{ start: number; bytes: Buffer }>(READ_OUTPUT, [taskId, run, start, end])
      return join(rows, start, end)
    },
  }

  return {
    ...outputs,
    /** Waits for writes that are under way, and not for pieces that another process holds up. */
    async close(): Promise<void> {
      closing.abort()
      await sending
    },
  }
}

/** An earlier version of the program stored some bytes twice: each counts once. */
function join(rows: readonly { readonly start: number; readonly bytes: Buffer }[], start: number, end: number): Buffer {
  const pieces: Buffer[] = []
  let at = start
  for (const piece of rows) {
    if (piece.start > at) break
    const rest = piece.bytes.subarray(at - piece.start, end - piece.start)
    pieces.push(rest)
    at += rest.byteLength
  }
  return Buffer.concat(pieces)
}

async function readExtents(query: Query, keys: readonly string[]): Promise<ReadonlyMap<string, OutputExtent>> {
  const runs = keys.map(fromRunKey)
  const rows = await query<{ id: TaskId; run: number; first: number; total: number; restarts: number[] }>(
    OUTPUT_EXTENTS,
    [runs.map(({ taskId }) => taskId), runs.map(({ run }) => run)],
  )
  return new Map(
    rows.map(({ id, run, first, total, restarts }) => {
      return [toRunKey(id, run), { firstOffset: first, totalBytes: total, restarts }]
    }),
  )
}

function toRunKey(taskId: TaskId, run: number): string {
  return `${run}/${taskId}`
}

function fromRunKey(key: string): { readonly taskId: string; readonly run: number } {
  const border = key.indexOf("/")
  return { run: Number(key.slice(0, border)), taskId: key.slice(border + 1) }
}

function toRows(part: OutputPart): readonly OutputPart[] {
  const rows: OutputPart[] = []
  for (let from = 0; from < part.bytes.byteLength; from += ROW_BYTES) {
    rows.push({ ...part, start: part.start + from, bytes: part.bytes.subarray(from, from + ROW_BYTES) })
  }
  return rows
}

function staleClaim(taskId: TaskId): MeanwhileError {
  const text = `Another worker has task ${taskId}, or it has ended: what is printed for it here is not kept.`
  return new MeanwhileError("stale_claim", text, { id: taskId })
}

/**
 * Appends pieces of output. Only the worker that has claimed the run under the fence may write; a lock on the task's
 * row keeps the claim until the bytes are there. A row that another process has locked is passed over, so that one task
 * does not hold up the others. Returns, for each run that is claimed under its fence, whether its pieces were written.
 * A stored piece that lies across `keep_from` is cut. Of a piece that is stored already, because its answer was lost or
 * because a lost worker sent it under the same claim, only what lies behind the stored output is added. The bytes of all
 * pieces come as one value, so that they need not be written out as text.
 */
export const APPEND_OUTPUT = `
WITH asked AS (
  SELECT id, run, fence, keep_from, start, substring($8::bytea FROM place FOR length) AS bytes
  FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::integer[])
    AS asked (id, run, fence, keep_from, start, place, length)
), claimed AS (
  SELECT id, run, fence FROM tasks WHERE id = ANY($1::text[]) AND status IN ('running', 'stopping')
), held AS MATERIALIZED (
  SELECT number, id, run, fence FROM tasks WHERE id = ANY($1::text[]) AND status IN ('running', 'stopping')
  ORDER BY number FOR NO KEY UPDATE SKIP LOCKED
), own AS MATERIALIZED (
  SELECT held.number AS task, asked.* FROM asked JOIN held USING (id, run, fence)
), kept AS MATERIALIZED (
  SELECT task, run, max(keep_from) AS keep_from FROM own GROUP BY task, run HAVING max(keep_from) > 0
), dropped AS (
  DELETE FROM outputs USING kept
  WHERE outputs.task = kept.task AND outputs.run = kept.run AND start < keep_from AND stop <= keep_from
), cut AS (
  UPDATE outputs SET start = keep_from, bytes = substring(bytes FROM (keep_from - start + 1)::integer) FROM kept
  WHERE outputs.task = kept.task AND outputs.run = kept.run AND start < keep_from AND stop > keep_from
), added AS (
  SELECT own.task, own.run, greatest(start, total) AS start, start + octet_length(bytes) AS stop,
    substring(bytes FROM (greatest(total - start, 0) + 1)::integer) AS bytes
  FROM own CROSS JOIN LATERAL (SELECT coalesce(max(stop), 0) AS total FROM (SELECT stop FROM outputs
    WHERE outputs.task = own.task AND outputs.run = own.run ORDER BY outputs.start DESC LIMIT 1) AS last) AS tail
), written AS (
  INSERT INTO outputs (task, run, start, stop, bytes)
  SELECT task, run, start, stop, bytes FROM added WHERE stop > start
  ON CONFLICT (task, run, start) DO UPDATE SET stop = excluded.stop, bytes = excluded.bytes
  WHERE excluded.stop > outputs.stop
)
SELECT DISTINCT claimed.id, claimed.run, claimed.fence, held.id IS NOT NULL AS is_written
FROM asked JOIN claimed USING (id, run, fence) LEFT JOIN held USING (id, run, fence)`

/**
 * Notes, under the fence of the run, where its output begins anew. Asked again it answers the same, because the claim that
 * began nothing else has only then printed.
 */
export const RESTART_OUTPUT = {
  name: "restart_output",
  text: `WITH held AS (
    SELECT number FROM tasks WHERE id = $1::text AND run = $2::integer AND fence = $3::bigint
      AND status IN ('running', 'stopping') FOR NO KEY UPDATE
  )
  INSERT INTO output_restarts (task, run, fence, start)
  SELECT number, $2::integer, $3::bigint, coalesce((SELECT stop FROM outputs
    WHERE task = number AND run = $2::integer ORDER BY start DESC LIMIT 1), 0) FROM held
  ON CONFLICT (task, run, fence) DO UPDATE SET start = output_restarts.start RETURNING start`,
}

/** The extents of the runs that have printed anything. */
export const OUTPUT_EXTENTS = {
  name: "output_extents",
  text: `SELECT wanted.id, wanted.run, first, total,
    to_json(ARRAY(SELECT DISTINCT start FROM output_restarts
      WHERE task = number AND output_restarts.run = wanted.run ORDER BY start)) AS restarts
  FROM unnest($1::text[], $2::integer[]) AS wanted (id, run)
  JOIN tasks ON tasks.id = wanted.id
  CROSS JOIN LATERAL (SELECT start AS first FROM outputs
    WHERE task = number AND outputs.run = wanted.run ORDER BY start LIMIT 1) AS head
  CROSS JOIN LATERAL (SELECT stop AS total FROM outputs
    WHERE task = number AND outputs.run = wanted.run ORDER BY start DESC LIMIT 1) AS tail`,
}

/** Reads from the stored piece that contains the start: a run that prints little at a time has very many pieces. */
export const READ_OUTPUT = {
  name: "read_output",
  text: `SELECT outputs.start, bytes FROM tasks
  CROSS JOIN LATERAL (SELECT coalesce(max(start), 0) AS start FROM outputs
    WHERE task = number AND outputs.run = $2::integer AND start <= $3::bigint) AS head
  JOIN outputs ON task = number AND outputs.run = $2::integer AND outputs.start >= head.start
    AND outputs.start < $4::bigint AND stop > $3::bigint
  WHERE id = $1::text ORDER BY outputs.start`,
}
