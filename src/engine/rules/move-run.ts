import { type LifecycleEvent, toLogged } from "../../task/event.ts"
import { isJoinMet } from "../../task/group.ts"
import type { GroupId } from "../../task/id.ts"
import { isTerminal, type TerminalStatus, transition } from "../../task/lifecycle.ts"
import { isArtifactHash } from "../../task/patch.ts"
import { isAskedOfPerson, type RunState } from "../../task/record.ts"
import type { Wait, WaitReason } from "../../task/wait.ts"
import { type Change, wakeGroup, wakeLiveTask, wakeSession, wakeTask } from "./change.ts"
import { wrongState } from "./refusal.ts"
import type { StoredTask, Tables } from "./tables.ts"

/** The one place where a run changes its status. What is below its task is left as it is. */
export function moveRunAlone(tables: Tables, task: StoredTask, event: LifecycleEvent, change: Change): StoredTask {
  const { number, details } = task
  const next = transition(task, event, change.now)
  if (!next) throw wrongState(task, `${event.type} has no way from here`)
  const sequence = task.course.lastSequence + 1
  const course = { ...task.course, ...next.course, lastSequence: sequence }
  const moved = { number, details, course, state: next.state, hasLargeInput: task.hasLargeInput }
  tables.events.append(number, sequence, course.run, change.now, toLogged(event))
  tables.tasks.saveRun(moved)
  applyEffects(tables, task.state, moved, change)
  const wake = isTerminal(next.state.status) ? wakeTask : wakeLiveTask
  wake(change, details.id, sequence)
  return moved
}

/** Waits that a person can answer. A notice tells the session that the task needs somebody. */
const ASKS_SOMEONE: ReadonlySet<WaitReason> = new Set(["person", "approval"])

/** The consequences of a run's new status: the offer, the wait, the notice, the group arrival. */
export function applyEffects(tables: Tables, before: RunState | undefined, task: StoredTask, change: Change): void {
  const { state } = task
  if (before?.status === "waiting" && isTerminal(state.status)) closeWait(tables, task, before.wait, change)
  if (state.status === "queued") change.hasOffers = true
  else if (state.status === "waiting") openWait(tables, task, state.wait, change)
  else if (isTerminal(state.status)) endRun(tables, task, state.status, change)
}

function openWait(tables: Tables, task: StoredTask, wait: Wait, change: Change): void {
  tables.waits.open(task, wait, change.now)
  if (!ASKS_SOMEONE.has(wait.reason) || task.details.kind === "turn") return
  tables.notices.insert(task, "needs_answer", change.now)
  wakeSession(change, task.details.session)
}

/** The run ended before the answer: nobody has to answer any more. */
function closeWait(tables: Tables, task: StoredTask, wait: Wait, change: Change): void {
  tables.waits.withdraw(wait.id)
  tables.notices.supersede(task.number, "needs_answer", change.now)
}

/**
 * A turn sends no notice, because its own session already shows its end. A member of a group that reports nothing sends
 * a silent notice, which is never told by itself, so it does not stand in the way of notices that are.
 */
function endRun(tables: Tables, task: StoredTask, status: TerminalStatus, change: Change): void {
  const { number, details, course } = task
  keepArtifacts(tables, task)
  if (details.kind !== "turn") {
    const isSilent = isUnasked(task) || (details.group !== null && tables.groups.isSilent(details.group))
    tables.notices.insert(task, "ended", change.now, isSilent ? "silent" : details.notify)
    wakeSession(change, details.session)
  }
  if (details.group === null) return
  tables.groups.arrive(details.group, number, { taskId: details.id, run: course.run, status })
  joinWhenMet(tables, details.group, change)
  wakeGroup(change, details.group)
}

/** True for a question that ended with its asker: nobody wants to know any more. */
function isUnasked({ details, state }: StoredTask): boolean {
  return isAskedOfPerson(details) && "stop" in state && state.stop.by === "parent"
}

/** Artifacts that a run hands back stay as long as its task, whoever put them. A tool may name any hash. */
function keepArtifacts({ artifacts }: Tables, { number, details, state }: StoredTask): void {
  const patch = "patch" in state ? state.patch : null
  for (const { hash } of patch?.artifacts ?? []) {
    if (isArtifactHash(hash)) artifacts.own(details.workspace, hash, number)
  }
}

/** Joins a sealed group once enough of its members have ended, in the transaction of the last of them or of the seal. */
export function joinWhenMet({ groups }: Tables, id: GroupId, change: Change): boolean {
  const standing = groups.standingOf(id)
  if (!standing || !isJoinMet(standing)) return false
  groups.move(id, "joined")
  wakeSession(change, standing.session)
  return true
}
