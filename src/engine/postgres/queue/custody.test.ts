import { expect, test } from "vitest"
import { useTestQueue } from "../test-queue.ts"
import { createCustody } from "./custody.ts"
import { createQueuedRows } from "./queued-rows.ts"
import type { Take } from "./take.ts"
import { toQueueEntry } from "./ticket-id.ts"

const subject = useTestQueue()

const fetchOne = () => subject.boss.fetch("shell", { query: subject.database.query, limit: 1 })

/** Gives back a ticket that was fetched in a transaction which ended so. */
async function giveBack(ending: Awaited<Take["ended"]>): Promise<void> {
  const { boss, database } = subject
  const queued = createQueuedRows(database.query, undefined)
  const onRelease = () => Promise.resolve()
  const custody = createCustody({ query: database.query, boss, queued, patienceMs: 60_000, onRelease })
  const [ticket] = await fetchOne()
  if (!ticket) throw new Error("there is no ticket")
  const [row] = await queued.read([toQueueEntry(ticket.id).number])
  const added = custody.add("shell", [{ ...ticket, row }], Promise.resolve(ending))
  custody.release(added)
  await custody.close()
}

test("a ticket that was taken is there for others once it is given back", async () => {
  await subject.queue(1, {})
  await giveBack("committed")
  expect(await fetchOne()).toHaveLength(1)
})

test("a ticket whose taking was taken back is left to whoever has it by now", async () => {
  await subject.queue(1, {})
  await giveBack("taken_back")
  expect(await fetchOne()).toEqual([])
})
