/** Counts of durations in buckets that grow by a quarter each, so that 60 of them span a millisecond to ten minutes. */
export interface Histogram {
  readonly counts: Readonly<Record<string, number>>
  readonly total: number
}

export const EMPTY_HISTOGRAM: Histogram = { counts: {}, total: 0 }

const GROWTH = 1.25
/** Past so many, older durations begin to weigh less: what a command took last year says little. */
const FORGET_ABOVE = 512

export function addDurations(histogram: Histogram, durationsMs: readonly number[]): Histogram {
  const counts: Record<string, number> = { ...histogram.counts }
  for (const durationMs of durationsMs) {
    const bucket = toBucket(durationMs)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  const total = histogram.total + durationsMs.length
  return total > FORGET_ABOVE ? halve(counts) : { counts, total }
}

/** The duration below which the given share of calls ended, as the middle of its bucket. */
export function quantileMs(histogram: Histogram, share: number): number {
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
  const halved: Record<string, number> = {}
  let total = 0
  for (const [bucket, count] of Object.entries(counts)) {
    const half = Math.floor(count / 2)
    if (half === 0) continue
    halved[bucket] = half
    total += half
  }
  return { counts: halved, total }
}
