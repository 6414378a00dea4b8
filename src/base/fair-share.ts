/**
 * The limit for each length that keeps their sum within the budget: shorter ones stay whole. Infinite if all of them
 * fit.
 */
export function toFairShare(lengths: readonly number[], budget: number): number {
  let left = budget
  let others = lengths.length
  for (const length of lengths.toSorted((one, other) => one - other)) {
    const share = Math.floor(left / others)
    if (length > share) return Math.max(share, 0)
    left -= length
    others -= 1
  }
  return Number.POSITIVE_INFINITY
}
