import { z } from "zod"
import type { CancelTimer, Clock } from "../../base/clock.ts"
import { isMeanwhileError } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import type { DurationEstimate } from "../../plugin/task-service.ts"
import type { WorkspaceId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"

export type Durations = ReturnType<typeof createDurations>

const COLLECTION = "durations"
const FLUSH_AFTER_MS = 2_000
const ATTEMPTS = 5
const histogramSchema = lazily(() => z.object({ counts: z.record(z.string(), z.number()), total: z.number() }))

interface Pending {
  readonly workspace: WorkspaceId
  readonly shape: string
  readonly durationsMs: number[]
}

/** Durations of earlier calls, one histogram per shape of call. A lost observation makes an estimate a little worse. */
export function createDurations({ store, clock }: { store: TaskStore; clock: Clock }) {
  const pending = new Map<string, Pending>()
  let cancelFlush: CancelTimer | undefined

  async function read(workspace: WorkspaceId, shape: string) {
    const document = await store.document(workspace, COLLECTION, shape)
    const parsed = histogramSchema().safeParse(document?.value)
    return { version: document?.version ?? 0, histogram: parsed.success ? parsed.data : EMPTY_HISTOGRAM }
  }

  async function write({ workspace, shape, durationsMs }: Pending): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { version: expectedVersion, histogram } = await read(workspace, shape)
      const document = { workspace, collection: COLLECTION, id: shape, value: addDurations(histogram, durationsMs) }
      try {
        await store.commit([{ op: "document.put", ...document, expectedVersion }])
        return
      } catch (error) {
        if (!isMeanwhileError(error, "version_conflict") || attempt === ATTEMPTS) throw error
      }
    }
  }

  async function flush(): Promise<void> {
    cancelFlush?.()
    cancelFlush = undefined
    const batch = [...pending.values()]
    pending.clear()
    await Promise.allSettled(batch.map(write))
  }

  return {
    flush,
    observe(workspace: WorkspaceId, shape: string, durationMs: number): void {
      const key = `${workspace} ${shape}`
      const known = pending.get(key)
      if (known) known.durationsMs.push(durationMs)
      else pending.set(key, { workspace, shape, durationsMs: [durationMs] })
      cancelFlush ??= clock.schedule(FLUSH_AFTER_MS, () => void flush(), { isBackground: true })
    },
    async estimate(workspace: WorkspaceId, shape: string, guessMs?: number): Promise<DurationEstimate | null> {
      const stored = await read(workspace, shape)
      const histogram = addDurations(stored.histogram, pending.get(`${workspace} ${shape}`)?.durationsMs ?? [])
      return toEstimate(histogram, guessMs)
    },
  }
}

function toEstimate(histogram: Histogram, guessMs: number | undefined): DurationEstimate | null {
  if (histogram.total > 0) {
    return { medianMs: quantileMs(histogram, 0.5), p90Ms: quantileMs(histogram, 0.9), source: "history" }
  }
  return guessMs === undefined ? null : { medianMs: guessMs, p90Ms: guessMs, source: "guess" }
}

/** Counts of durations in buckets that grow by a quarter each, so that 60 of them span a millisecond to ten minutes. */
type Histogram = { readonly counts: Readonly<Record<string, number>>; readonly total: number }

const EMPTY_HISTOGRAM: Histogram = { counts: {}, total: 0 }

const GROWTH = 1.25
/** Past this many, older durations weigh less: what a command took last year says little. */
const FORGET_ABOVE = 512

function addDurations(histogram: Histogram, durationsMs: readonly number[]): Histogram {
  const counts: Record<string, number> = { ...histogram.counts }
  for (const durationMs of durationsMs) {
    const bucket = toBucket(durationMs)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  const total = histogram.total + durationsMs.length
  return total > FORGET_ABOVE ? halve(counts) : { counts, total }
}

/** The duration below which the given share of calls ended, as the middle of its bucket. */
function quantileMs(histogram: Histogram, share: number): number {
  const buckets = Object.keys(histogram.counts)
    .map(Number)
    .toSorted((a, b) => a - b)
  let seen = 0
  for (const bucket of buckets) {
    seen += histogram.counts[bucket] ?? 0
    if (seen >= histogram.total * share) return toMiddleMs(bucket)
  }
  return 0
}

function toBucket(durationMs: number): number {
  return durationMs <= 1 ? 0 : Math.ceil(Math.log(durationMs) / Math.log(GROWTH))
}

function toMiddleMs(bucket: number): number {
  return bucket === 0 ? 1 : (GROWTH ** bucket + GROWTH ** (bucket - 1)) / 2
}

function halve(counts: Readonly<Record<string, number>>): Histogram {
  const halved = Object.entries(counts)
    .map(([bucket, count]) => [bucket, Math.floor(count / 2)] as const)
    .filter(([, half]) => half > 0)
  return { counts: Object.fromEntries(halved), total: halved.reduce((sum, [, half]) => sum + half, 0) }
}
