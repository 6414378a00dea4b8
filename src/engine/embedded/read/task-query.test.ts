import { DatabaseSync } from "node:sqlite"
import { expect, onTestFinished, test } from "vitest"
import type { WorkspaceId } from "../../../task/id.ts"
import { TERMINAL_STATUSES } from "../../../task/lifecycle.ts"
import { WORK_KINDS } from "../../../task/record.ts"
import { MIGRATIONS } from "../schema/schema-changes.ts"
import { toQueries } from "./task-query.ts"

test("the ends of a workspace since a time are found by an index of ends, and by no other walk", () => {
  const database = new DatabaseSync(":memory:")
  onTestFinished(() => database.close())
  database.exec(MIGRATIONS.join(";"))
  const filter = { workspace: "home" as WorkspaceId, statuses: TERMINAL_STATUSES, kinds: WORK_KINDS, endedAfter: 7 }
  const steps = toQueries(filter, () => []).flatMap(({ from, where, parameters }) => {
    const plan = database.prepare(`EXPLAIN QUERY PLAN SELECT number FROM ${from} WHERE ${where}`)
    return plan.all(...parameters).map((step) => step["detail"])
  })
  expect(steps).toEqual(["SEARCH tasks USING INDEX tasks_by_end (workspace=? AND ended_at>?)"])
})
