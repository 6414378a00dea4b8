/** The value below which the share `fraction` of the values lies, by nearest rank. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.max(0, Math.ceil(fraction * sorted.length) - 1)
  const value = sorted[rank]
  if (value === undefined) throw new Error("a percentile of no values")
  return value
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

export interface Comparison {
  readonly ours: number
  readonly reference: number
  readonly ratio: number
}

/**
 * Measures the two in turns, so that a machine that slows down slows both. The ratio is the median of the ratios of
 * single rounds. The first rounds warm up and do not count.
 */
export async function compare(
  rounds: number,
  measureOurs: () => Promise<number>,
  measureReference: () => Promise<number>,
  warmUps = 1,
): Promise<Comparison> {
  const ours: number[] = []
  const reference: number[] = []
  for (let round = 1 - warmUps; round <= rounds; round++) {
    // The second of a round finds a warmer machine, so the order alternates.
    const oursFirst = round % 2 === 0
    const first = await (oursFirst ? measureOurs() : measureReference())
    const second = await (oursFirst ? measureReference() : measureOurs())
    if (round < 1) continue
    ours.push(oursFirst ? first : second)
    reference.push(oursFirst ? second : first)
  }
  const ratios = ours.map((value, index) => value / (reference[index] ?? Number.NaN))
  return { ours: median(ours), reference: median(reference), ratio: median(ratios) }
}

/** How long the work takes, in milliseconds, once per call. */
export async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
