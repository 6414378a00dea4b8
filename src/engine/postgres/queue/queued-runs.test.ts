import { expect, test } from "vitest"
import type { Query } from "../connection/database.ts"
import { toRequest, useTestQueue } from "../../../../test/support/postgres/queue.ts"
import { createQueuedRuns } from "./queued-runs.ts"

const subject = useTestQueue()

/** After this many executions the server keeps one plan for all values. */
const TIMES = 8
const PLUGINS = ["shell", "web", "notes"]

test("the plugins that have work are found, each once", async () => {
  await subject.queue(2, { plugin: "web" })
  await subject.queue(1, { plugin: "notes" })
  const { pluginsWithWork } = createQueuedRuns(subject.database.query, undefined)
  const found = await pluginsWithWork(toRequest({ plugins: [...PLUGINS, "web"] }))
  expect(found.toSorted()).toEqual(["notes", "web"])
})

/** The plan that is kept of the one statement that contains this text. */
async function explainKept(query: Query, text: string): Promise<{ readonly count: number; readonly text: string }> {
  const [kept, ...others] = await query<{ name: string; generic_plans: number; parameter_types: string }>(
    "SELECT name, generic_plans, parameter_types FROM pg_prepared_statements WHERE strpos(statement, $1) > 0 AND name <> ''",
    [text],
  )
  expect(others).toEqual([])
  const values = (kept?.parameter_types ?? "").split(",").map(() => "NULL")
  const lines = await query(`EXPLAIN EXECUTE "${kept?.name}" (${values.join(", ")})`)
  return { count: kept?.generic_plans ?? 0, text: JSON.stringify(lines) }
}

test("plugins with work are found along the queue of each, by one kept plan, whatever was there at first", async () => {
  await subject.database.query("ANALYZE tasks")
  const plan = await subject.database.transaction(async (query) => {
    const { pluginsWithWork } = createQueuedRuns(query, undefined)
    for (let time = 0; time < TIMES; time++) await pluginsWithWork(toRequest({ plugins: PLUGINS }))
    return explainKept(query, "AS p (plugin)")
  })
  expect(plan.count).toBeGreaterThan(0)
  expect(plan.text).toContain("tasks_queue_of_plugin")
})

test("other workspaces are found behind a crowd without a walk along its queue", async () => {
  await subject.queue(5_000, { workspace: "crowd" })
  await subject.database.query("ANALYZE tasks")
  await subject.database.transaction(async (query) => {
    const { hasOtherWorkspaces } = createQueuedRuns(query, undefined)
    for (let time = 0; time < TIMES; time++) expect(await hasOtherWorkspaces(["crowd"])).toBe(false)
    const plan = await explainKept(query, "RECURSIVE known")
    expect(plan.text).toContain("tasks_by_workspace")
    expect(plan.text).not.toMatch(/Seq Scan|tasks_queue|Sort/)
    expect(await hasOtherWorkspaces([])).toBe(true)
  })
  const [single] = await subject.queue(1, { workspace: "single" })
  const { hasOtherWorkspaces } = createQueuedRuns(subject.database.query, undefined)
  expect(await hasOtherWorkspaces(["crowd"])).toBe(true)
  expect(await hasOtherWorkspaces(["crowd", "single"])).toBe(false)
  await subject.database.query("UPDATE tasks SET status = 'running' WHERE id = $1", [single])
  expect(await hasOtherWorkspaces(["crowd"])).toBe(false)
})
