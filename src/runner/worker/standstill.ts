/** As a share of a lease. */
const STANDSTILL_SHARE = 2 / 3

/**
 * Whether a process that looked so long ago stood still itself, was busy, or waited for its store: it cannot say of others
 * that they were silent.
 */
export function stoodStill(sinceLookMs: number, leaseMs: number): boolean {
  return sinceLookMs > leaseMs * STANDSTILL_SHARE
}
