import { setImmediate as turn } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { type Built, createBulk, columnsOf } from "./bulk.ts"
import { sendRows } from "./write-rows.ts"

test("a statement that fails after it was sent does not end the process", async () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown): void => void unheard.push(reason)
  process.on("unhandledRejection", hear)
  onTestFinished(() => void process.off("unhandledRejection", hear))
  sendRows(() => Promise.reject(new Error("the connection was lost")), [{ text: "DELETE FROM tasks", values: [] }])
  await turn()
  expect(unheard).toEqual([])
})

test("a value that is the same in all rows is sent once, and the others as parallel arrays", () => {
  const built: Built[] = []
  const bulk = createBulk(built)
  const rows = [1, 2].map((number) => ({ number, status: "queued", worker: null, state: number === 1 ? null : "{}" }))
  bulk.insert("tasks", columnsOf(rows))
  bulk.update("tasks", columnsOf(rows.slice(1), ["number", "status"]), ["number"])
  bulk.insert("tasks", columnsOf(rows.slice(1), ["number", "status"]))
  expect(built).toEqual([
    {
      text: "INSERT INTO tasks (number, status, worker, state) SELECT given.number, $3, $4, given.state FROM unnest($1::bigint[], $2::text[]) AS given (number, state)",
      values: ["{1,2}", '{null,"{}"}', "queued", null],
    },
    { text: "UPDATE tasks SET status = $2 WHERE tasks.number = $1", values: [2, "queued"] },
    { text: "INSERT INTO tasks (number, status) VALUES ($1, $2)", values: [2, "queued"] },
  ])
})
