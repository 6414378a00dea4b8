import { toHops } from "../../runner/run/hops.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Stopper } from "../../task/stop.ts"
import { type Delivery, endedInGroup, type EndedTask, keepEnded, type ToldGroup } from "../results/delivery.ts"
import type { ReportsConfig } from "../conversation/report-config.ts"

/** The end of a task that is longer ago than this wakes nobody. */
const OLDEST_MS = 7 * 24 * 60 * 60 * 1_000

/** Stops that need no report: their requester knows of them, or nobody waits for the result. */
const QUIET_STOPPERS: ReadonlySet<Stopper> = new Set(["model", "parent", "lifetime"])

/** The decision whether the agent reports, and about which results. */
export interface ReportPlan {
  /** The results that a report tells now; null if no report is made. */
  readonly delivery: Delivery | null
  /** The hops of the report, itself included. */
  readonly hops: number
  /** Results without a report: the person is notified, and the model is told with the next message. */
  readonly unreported: readonly EndedTask[]
  /** The limit that allows no report at all now, in words; null if there is none. */
  readonly why: string | null
}

export interface PlanOptions {
  readonly config: ReportsConfig
  /** Reports in a row since a person last said something. */
  readonly wakes: number
  readonly now: number
  /** True if a report about this result was tried and failed. */
  readonly isGivenUp: (ended: EndedTask) => boolean
}

/** Results that wait for the next turn come along with a report, but are no reason for one. */
export function planReport(delivery: Delivery, { config, wakes, now, isGivenUp }: PlanOptions): ReportPlan {
  const isNear = ({ task }: EndedTask): boolean => toHops(task.metadata) + 1 <= config.maxHops
  const isDue = (ended: EndedTask): boolean => isNear(ended) && ended.at > now - OLDEST_MS && !isGivenUp(ended)
  const waking = findWaking(delivery, config)
  const reportable = wakes < config.maxConsecutiveWakes ? waking.filter(({ isMerged }) => isMerged) : []
  const reasons = reportable.flatMap(({ ended }) => ended.filter(isDue))
  const told = reasons.length > 0 ? keepEnded(delivery, isNear) : null
  const isTold = new Set(told ? [...told.tasks, ...told.groups.flatMap(endedInGroup)].map(({ task }) => task.id) : [])
  const unreported = waking.flatMap(({ ended }) => ended).filter(({ task }) => !isTold.has(task.id))
  const hops = Math.max(0, ...reasons.map(({ task }) => toHops(task.metadata))) + 1
  return { delivery: told, hops, unreported, why: describeLimit(config, wakes) }
}

function describeLimit({ maxConsecutiveWakes: most }: ReportsConfig, wakes: number): string | null {
  if (wakes < most) return null
  if (most === 0) return "reports by itself are limited to none"
  return `after ${most === 1 ? "1 report" : `${most} reports in a row`} without a word from you`
}

/** Results that would wake the session if no limit applied, and whether results of their merge strategy are reported. */
function findWaking({ tasks, groups }: Delivery, config: ReportsConfig) {
  const isMerged = config.strategies.includes("append")
  const singles = tasks.filter(mayWake).map((one) => ({ ended: [one], isMerged }))
  const together = groups
    .filter((told) => !told.isLate && endedInGroup(told).some(mayWake))
    .map((told) => ({ ended: endedInGroup(told), isMerged: isMergedBy(told, config) }))
  return [...singles, ...together]
}

function isMergedBy({ group, decision }: ToldGroup, { strategies }: ReportsConfig): boolean {
  return decision !== null || group.merge === "human_gated" || strategies.includes(group.merge)
}

function mayWake({ notify, task }: EndedTask): boolean {
  return notify === "wake" && !isQuietStop(task)
}

function isQuietStop(task: TaskRecord): boolean {
  return task.status === "cancelled" && QUIET_STOPPERS.has(task.stop.by)
}
