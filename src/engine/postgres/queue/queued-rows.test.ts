import { expect, test } from "vitest"
import { toRequest, useTestQueue } from "../test-queue.ts"
import { createQueuedRows } from "./queued-rows.ts"

const subject = useTestQueue()

/** After so many the server keeps one plan for whatever values come. */
const TIMES = 8
const PLUGINS = ["shell", "web", "notes"]

test("of the plugins those are found that have something, each once", async () => {
  await subject.queue(2, { plugin: "web" })
  await subject.queue(1, { plugin: "notes" })
  const { pluginsWithWork } = createQueuedRows(subject.database.query, undefined)
  const found = await pluginsWithWork(toRequest({ plugins: [...PLUGINS, "web"] }))
  expect(found.toSorted()).toEqual(["notes", "web"])
})

test("they are looked for along the queue of each, by one plan that is kept, whatever was there when it was made", async () => {
  await subject.database.query("ANALYZE tasks")
  const [plan, ...others] = await subject.database.transaction(async (query) => {
    const { pluginsWithWork } = createQueuedRows(query, undefined)
    for (let time = 0; time < TIMES; time++) await pluginsWithWork(toRequest({ plugins: PLUGINS }))
    const kept = await query<{ name: string; generic_plans: number; parameter_types: string }>(
      "SELECT name, generic_plans, parameter_types FROM pg_prepared_statements WHERE statement LIKE '%AS p (plugin)%'",
    )
    return Promise.all(
      kept.map(async ({ name, generic_plans: count, parameter_types: types }) => {
        const values = types
          .slice(1, -1)
          .split(",")
          .map(() => "NULL")
        const lines = await query(`EXPLAIN EXECUTE "${name}" (${values.join(", ")})`)
        return { count, text: JSON.stringify(lines) }
      }),
    )
  })
  expect(others).toEqual([])
  expect(plan?.count).toBeGreaterThan(0)
  expect(plan?.text).toContain("tasks_queue_of_plugin")
})
