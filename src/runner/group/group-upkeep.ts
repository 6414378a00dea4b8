import type { GroupRecord } from "../../task/group.ts"
import type { GroupId } from "../../task/id.ts"
import { type Chore, repeat, warn } from "../worker/repeat.ts"
import type { CancelScope, HasEngine, HasLog, HasWritten, HasStore } from "../run/scope.ts"
import { isGated, openGate } from "./gate.ts"
import { GATE_PREFIX } from "../tool/tool-source.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import { cancelById } from "../stop/cancel.ts"
import { listMembers } from "./find-group.ts"

const MOST_AT_ONCE = 1_000
const MOST_REMEMBERED = 10_000

/**
 * Does what follows from the ends of members: after the first failure in a `failFast` group it stops the other members,
 * and it opens the gate of a gated group. It acts at once when the bus tells of a group and, if it `looksAround`, by a
 * slow look at all groups: a crash or a lost wake-up may have left some behind.
 */
export function createGroupUpkeep(
  scope: CancelScope & HasLog & HasEngine & HasWritten,
  { looksAround }: { readonly looksAround: boolean },
): Chore {
  const woken = new Set<GroupId>()
  /** Groups that will need nothing more, either by their options or because it was done. */
  const settled = new Set<GroupId>()
  let tending: Promise<void> | undefined
  let isClosed = false

  async function tend(group: GroupRecord): Promise<void> {
    await failFast(scope, group)
    if (isGated(group)) await openGate(scope, group)
    if (!mayNeedMore(group)) settled.add(group.id)
    if (settled.size > MOST_REMEMBERED) settled.clear()
  }

  /** A group whose upkeep fails now is tended again when all groups are looked at. */
  async function tendWoken(): Promise<void> {
    for (const id of woken) {
      woken.delete(id)
      try {
        const group = await scope.store.group(id)
        if (group) await tend(group)
      } catch (error) {
        warn(scope, error)
      }
    }
  }

  function tendSoon(): void {
    tending ??= tendWoken().then(() => {
      tending = undefined
      if (woken.size > 0) tendSoon()
    })
  }

  function hear(id: GroupId): void {
    if (isClosed || settled.has(id)) return
    woken.add(id)
    tendSoon()
  }

  async function tendAll(): Promise<void> {
    const { store } = scope
    const failing = await store.groups({ states: ["open", "sealed"], failFast: true }, MOST_AT_ONCE)
    // Groups that have their gate need nothing more, and there are more of them all the time.
    const gated = await store.groups(
      { states: ["joined"], merge: "human_gated", withoutTask: GATE_PREFIX },
      MOST_AT_ONCE,
    )
    for (const group of [...failing, ...gated]) {
      if (isClosed || settled.has(group.id) || scope.queue.own?.hasSession(group.session) === false) continue
      await tend(group)
    }
  }

  const first = looksAround ? tendAll().catch((error: unknown) => warn(scope, error)) : undefined
  const poll = looksAround ? repeat(scope, scope.config.completionScanIntervalMs, tendAll) : undefined
  const unsubscribe = scope.engine.bus.subscribe((wake) => {
    if (wake.about === "group") hear(wake.groupId)
  })

  return {
    async close() {
      isClosed = true
      unsubscribe()
      await Promise.all([first, poll?.close(), tending])
    },
  }
}

/** Until a group is joined it may need its gate, or a stop after a failure. */
function mayNeedMore({ state, failFast: endsEarly, merge }: GroupRecord): boolean {
  return (state === "open" || state === "sealed") && (endsEarly || merge === "human_gated")
}

const REASON = "its group ends with the first member that does not complete"

/**
 * Stops the live members of a `failFast` group once a member has failed. A crash anywhere in between leaves the failed
 * arrival and the live members in the store: the next look goes on.
 */
async function failFast(scope: CancelScope, group: GroupRecord): Promise<void> {
  if (!group.failFast || (group.state !== "open" && group.state !== "sealed")) return
  const failed = await findFailed(scope, group)
  if (!failed) return
  const reason = `${REASON}: ${failed.title} (${failed.id.slice(0, 8)}) ended ${failed.status}`
  for (const { id } of await listMembers(scope, group.id, LIVE_STATUSES)) {
    await cancelById(scope, id, { by: "limit", reason })
  }
}

/**
 * A member that was itself stopped because another failed does not count: the other may run again by now. Neither does
 * one that was stopped with the task above it: what lives forever goes on.
 */
async function findFailed({ store }: HasStore, { arrivals }: GroupRecord): Promise<TaskRecord | undefined> {
  for (const { taskId, status } of arrivals) {
    if (status === "completed") continue
    const task = await store.task(taskId)
    if (task && task.status === status && !isStoppedForAnother(task)) return task
  }
  return undefined
}

function isStoppedForAnother(task: TaskRecord): boolean {
  if (task.status !== "cancelled") return false
  const { by, reason } = task.stop
  return by === "parent" || (by === "limit" && reason.startsWith(REASON))
}
