import { toStoredKey, toStoredText } from "../../schema/storable.ts"
import type { ArrivalEntry } from "../working-set/arrival-rows.ts"
import type { GroupEntry } from "../working-set/group-rows.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { Bulk } from "./bulk.ts"
import { columnsOf } from "./row-source.ts"

export function removeGroups(bulk: Bulk, { groups }: WorkingSet): void {
  const gone = groups.changes().flatMap(({ before, after }) => (before && !after ? [before.id] : []))
  bulk.run(gone.length, "DELETE FROM groups WHERE id = ANY($1::text[])", [gone])
  const emptied = groups.arrivals.removals()
  bulk.run(emptied.length, "DELETE FROM arrivals WHERE group_id = ANY($1::text[])", [emptied])
  const departed = groups.arrivals.departures()
  bulk.run(
    departed.length,
    `DELETE FROM arrivals USING unnest($1::text[], $2::bigint[]) AS departed (group_id, task)
     WHERE arrivals.group_id = departed.group_id AND arrivals.task = departed.task`,
    [departed.map(({ group }) => group), departed.map(({ task }) => task)],
  )
}

export function writeGroups(bulk: Bulk, { groups }: WorkingSet): void {
  const changes = groups.changes()
  const made = changes.flatMap(({ before, after }) => (after && !before ? [toGroupColumns(after)] : []))
  const changed = changes.flatMap(({ before, after }) => (after && before ? [toGroupColumns(after)] : []))
  bulk.insert("groups", columnsOf(made))
  bulk.update("groups", columnsOf(changed), ["id"])
  const arrived = groups.arrivals.changes().flatMap(({ after }) => (after ? [toArrivalColumns(after)] : []))
  bulk.upsert("arrivals", columnsOf(arrived), ["group_id", "task"])
}

function toGroupColumns({ id, workspace, session, name, join, failFast, report, merge, ...moving }: GroupEntry) {
  return {
    id: toStoredKey(id),
    workspace: toStoredKey(workspace),
    session: toStoredKey(session),
    name: toStoredText(name),
    join_when: JSON.stringify(join),
    fail_fast: failFast ? 1 : 0,
    report,
    merge,
    state: moving.state,
    created_at: moving.createdAt,
    member_count: moving.memberCount,
  }
}

function toArrivalColumns({ group, task, arrival }: ArrivalEntry) {
  return { group_id: group, task, task_id: arrival.taskId, run: arrival.run, status: arrival.status }
}
