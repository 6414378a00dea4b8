import type { SessionId } from "../../../../task/id.ts"
import type { StoredNotice } from "../../../rules/tables.ts"
import { toStoredJson, toStoredKey, toStoredText } from "../../schema/storable.ts"
import type { RunEntry, StepEntry } from "../working-set/journal-rows.ts"
import { sortChanges } from "../working-set/memory.ts"
import type { WaitEntry } from "../working-set/wait-rows.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { Bulk } from "./bulk.ts"

/** Changes and removes rows of tasks without their having been loaded. */
export function sweepDependents(bulk: Bulk, { tasks, steps, runs, notices, waits }: WorkingSet): void {
  const stored = (numbers: readonly number[]): number[] => [...new Set(numbers)].filter((task) => !tasks.isNew(task))
  for (const [table, removals] of [
    ["steps", steps.removals()],
    ["runs", runs.removals()],
    ["waits", waits.removals()],
    ["notices", notices.sweeps().flatMap(({ sweep, task }) => (sweep === "remove" ? [task] : []))],
  ] as const) {
    const lost = stored(removals)
    bulk.run(lost.length, `DELETE FROM ${table} WHERE task = ANY($1::bigint[])`, [lost])
  }
  readdressNotices(bulk, notices, tasks)
  const superseded = notices
    .sweeps()
    .flatMap((sweep) => (sweep.sweep === "supersede" && !tasks.isNew(sweep.task) ? [sweep] : []))
  bulk.run(
    superseded.length,
    `UPDATE notices SET state = 'superseded', settled_at = lost.at, claimed_by_task = NULL, claimed_by_run = NULL,
       claimed_by_key = NULL FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS lost (task, kind, at)
     WHERE notices.task = lost.task AND notices.kind = lost.kind AND settled_at IS NULL`,
    [superseded.map(({ task }) => task), superseded.map(({ kind }) => kind), superseded.map(({ at }) => at)],
  )
  const withdrawn = waits.withdrawals()
  bulk.run(withdrawn.length, "UPDATE waits SET state = 'withdrawn' WHERE id = ANY($1::text[])", [withdrawn])
}

/** The last address of a task's notices counts. */
function readdressNotices(bulk: Bulk, notices: WorkingSet["notices"], tasks: WorkingSet["tasks"]): void {
  const sessions = new Map<number, SessionId | null>()
  for (const sweep of notices.sweeps())
    if (sweep.sweep === "readdress" && !tasks.isNew(sweep.task)) sessions.set(sweep.task, sweep.session)
  bulk.run(
    sessions.size,
    `UPDATE notices SET session = moved.session FROM unnest($1::bigint[], $2::text[]) AS moved (task, session)
     WHERE notices.task = moved.task`,
    [[...sessions.keys()], [...sessions.values()]],
  )
}

export function writeDependents(bulk: Bulk, { steps, runs, notices, waits }: WorkingSet): void {
  bulk.put("steps", steps.changes(), toStepColumns, ["task", "run", "key"])
  bulk.put("runs", runs.changes(), toRunColumns, ["task", "run"])
  bulk.put("notices", notices.changes(), toNoticeColumns, ["task", "run", "kind"])
  const removed = new Set(waits.removals())
  const waitChanges = sortChanges(waits.changes(), (before) => !removed.has(before.task))
  bulk.save("waits", waitChanges, toWaitColumns, ["id"])
}

function toStepColumns({ task, step, firstSequence }: StepEntry) {
  const { run, key, onCrash, startedAt } = step
  const isFinished = step.state === "finished"
  return {
    task,
    run,
    key: toStoredKey(key, "key"),
    first_sequence: firstSequence,
    on_crash: onCrash,
    started_at: startedAt,
    finished_at: isFinished ? step.finishedAt : null,
    completion: isFinished ? step.completion : null,
    result: isFinished ? toStoredJson(step.result, "result") : null,
  }
}

function toRunColumns({ task, record }: RunEntry) {
  return { task, run: record.run, record: toStoredJson(record, "record") }
}

function toNoticeColumns(notice: StoredNotice) {
  const { task, run, kind, taskId, workspace, session, notify, at, state } = notice
  const claim = notice.state === "claimed" ? notice.claimedBy : null
  return {
    task,
    run,
    kind,
    workspace,
    session,
    notify,
    at,
    state,
    task_id: taskId,
    settled_at: "settledAt" in notice ? notice.settledAt : null,
    claimed_by_task: claim && toStoredKey(claim.taskId, "taskId"),
    claimed_by_run: claim && claim.run,
    claimed_by_key: claim && toStoredKey(claim.key, "key"),
  }
}

function toWaitColumns({ task, record }: WaitEntry) {
  const { id, taskId, workspace, run, openedAt, state, reason, expiresAt, onExpiry, question } = record
  const isAnswered = record.state === "answered"
  return {
    task,
    workspace,
    run,
    state,
    reason,
    id: toStoredKey(id, "id"),
    task_id: taskId,
    opened_at: openedAt,
    expires_at: expiresAt,
    on_expiry: toStoredJson(onExpiry, "onExpiry"),
    question: toStoredJson(question, "question"),
    answered_by: isAnswered ? toStoredText(record.answeredBy) : null,
    answered_at: isAnswered ? record.answeredAt : null,
    answer: isAnswered ? toStoredJson(record.answer, "answer") : null,
  }
}
