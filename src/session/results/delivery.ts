import type { BackgroundTaskResult } from "../../plugin/background-result.ts"
import type { GroupRecord } from "../../task/group.ts"
import type { NoticeKey } from "../../task/notice.ts"
import type { NotifyMode, TaskRecord } from "../../task/record.ts"

/** A run that has ended, and of which its session has not heard. */
export interface EndedTask {
  readonly key: NoticeKey
  readonly notify: NotifyMode
  /** When the run ended. */
  readonly at: number
  readonly traceId: string | null
  readonly task: TaskRecord
}

/** A group whose members are told together. */
export interface ToldGroup {
  readonly group: GroupRecord
  /** The members that are told, in the order in which they were started. */
  readonly members: readonly EndedTask[]
  /** Members whose results the session has used already: they are named. */
  readonly used: readonly TaskRecord[]
  /** The person's decision about the group; null when nobody was asked. */
  readonly decision: EndedTask | null
  /** True if enough members had ended before, and were told: these members come with whatever is told next. */
  readonly isLate: boolean
}

export interface WaitingTask {
  readonly key: NoticeKey
  readonly task: TaskRecord
}

/** Results that the model of one session can be told now. */
export interface Delivery {
  readonly tasks: readonly EndedTask[]
  readonly groups: readonly ToldGroup[]
  /** Tasks that need a person's answer. */
  readonly waiting: readonly WaitingTask[]
  /** Results that a restored conversation had not used. */
  readonly restored: readonly BackgroundTaskResult[]
  /** Notices that are settled together with what is told, and are not told themselves. */
  readonly passed: readonly NoticeKey[]
}

export const NOTHING_TO_TELL: Delivery = { tasks: [], groups: [], waiting: [], restored: [], passed: [] }

export function isNothing({ tasks, groups, waiting, restored }: Delivery): boolean {
  return tasks.length + groups.length + waiting.length + restored.length === 0
}

/** All ends, in groups or not, with the decisions about groups. */
export function endedIn({ tasks, groups }: Pick<Delivery, "tasks" | "groups">): readonly EndedTask[] {
  return [...groups.flatMap(endedInGroup), ...tasks]
}

/** The trace in which a report about these goes on: that of the first task. */
export function traceOf(delivery: Delivery): string | null {
  return endedIn(delivery)[0]?.traceId ?? null
}

export function endedInGroup({ members, decision }: ToldGroup): readonly EndedTask[] {
  return decision ? [decision, ...members] : members
}

/** The notices that are used once the delivery was told. */
export function keysOf(delivery: Delivery): readonly NoticeKey[] {
  const waiting = delivery.waiting.map(({ key }) => key)
  return [...endedIn(delivery).map(({ key }) => key), ...waiting, ...delivery.passed]
}

/** Keeps the ends that the predicate accepts, and drops groups of which nothing is left. */
export function keepEnded(delivery: Delivery, isKept: (ended: EndedTask) => boolean): Delivery {
  const groups = delivery.groups
    .map((told) => ({ ...told, members: told.members.filter(isKept) }))
    .filter(({ members, decision }) => members.length > 0 || (decision !== null && isKept(decision)))
  return { ...delivery, tasks: delivery.tasks.filter(isKept), groups }
}

export function toKeyText({ taskId, run, kind }: NoticeKey): string {
  return `${taskId}/${run}/${kind}`
}
