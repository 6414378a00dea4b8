import { RUN_STATUSES, type RunStatus } from "../../../task/lifecycle.ts"
import type { StatusCounts } from "../../../task/store.ts"

/** Statuses without tasks count 0. */
export function toCounts(rows: readonly { readonly status: RunStatus; readonly count: number }[]): StatusCounts {
  const counts = new Map(rows.map(({ status, count }) => [status, count]))
  return Object.fromEntries(RUN_STATUSES.map((status) => [status, counts.get(status) ?? 0])) as StatusCounts
}
