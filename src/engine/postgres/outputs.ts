import { setTimeout as wait } from "node:timers/promises"
import { MeanwhileError } from "../../base/error.ts"
import type { TaskId } from "../../task/id.ts"
import type { OutputExtent, OutputPart, Outputs } from "../../task/outputs.ts"
import type { Query } from "./connection/database.ts"
import { closed } from "./connection/patience.ts"
import { APPEND_OUTPUT, OUTPUT_EXTENTS, READ_OUTPUT } from "./output-statements.ts"
import { createSharedReads } from "./read/shared-reads.ts"

export interface PostgresOutputs extends Outputs {
  /** Waits for what is under way, and not for what somebody else holds up. */
  close(): Promise<void>
}

export interface OutputsParts {
  readonly query: Query
  /** These tasks have printed something that others can read now. */
  onWritten(tasks: readonly TaskId[]): void
}

interface Writer {
  readonly part: OutputPart
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** A row is read as a whole. */
const ROW_BYTES = 64 * 1_024
/** Whoever else writes to these tasks waits meanwhile. */
const LARGEST_GROUP_BYTES = 1_024 * 1_024
/** Somebody is just writing to that task: that takes a moment, unless they stand still. */
const SHORTEST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 200

/**
 * Pieces of one moment are written by one statement, and told of once: a notification for each would keep the whole database
 * waiting. It stands for itself, so that no process that stops in the middle leaves a lock behind.
 */
export function createOutputs({ query, onWritten }: OutputsParts): PostgresOutputs {
  const waiting: Writer[] = []
  const closing = new AbortController()
  let sending: Promise<void> | undefined
  const readExtent = createSharedReads((keys: readonly string[]) => readExtents(query, keys))

  async function send(): Promise<void> {
    let pauseMs = SHORTEST_PAUSE_MS
    /** How many were tried in a row without one of them being written. */
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
      // Behind all others, who need not wait for whoever holds these.
      if (closing.signal.aborted) for (const { reject } of busy) reject(closed())
      else waiting.push(...busy)
      if (busy.length === 0 || (busy.length < waiting.length && triedInVain < waiting.length)) continue
      await wait(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
      triedInVain = 0
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
    sending = undefined
  }

  function takeGroup(): readonly Writer[] {
    let bytes = 0
    const count = waiting.findIndex(({ part }, index) => {
      bytes += part.bytes.byteLength
      return index > 0 && bytes > LARGEST_GROUP_BYTES
    })
    return waiting.splice(0, count < 0 ? waiting.length : count)
  }

  /** Answers with those whose task somebody is writing to: they are to be tried again. */
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

  return {
    append: (part) =>
      new Promise((resolve, reject) => {
        if (closing.signal.aborted) return reject(closed())
        waiting.push({ part, resolve, reject })
        sending ??= send()
      }),
    extent: (taskId, run) => readExtent(toRunKey(taskId, run)),
    async read(taskId, run, start, end) {
      const rows = await query<{ start: number; bytes: Buffer }>(READ_OUTPUT, [taskId, run, start, end])
      const [first] = rows
      if (!first || first.start > start) return new Uint8Array()
      const whole = Buffer.concat(rows.map(({ bytes }) => bytes))
      return whole.subarray(start - first.start, end - first.start)
    },
    async close() {
      closing.abort()
      await sending
    },
  }
}

async function readExtents(query: Query, keys: readonly string[]): Promise<ReadonlyMap<string, OutputExtent>> {
  const runs = keys.map(fromRunKey)
  const rows = await query<{ id: TaskId; run: number; first: number; total: number }>(OUTPUT_EXTENTS, [
    runs.map(({ taskId }) => taskId),
    runs.map(({ run }) => run),
  ])
  return new Map(
    rows.map(({ id, run, first, total }) => [toRunKey(id, run), { firstOffset: first, totalBytes: total }]),
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
