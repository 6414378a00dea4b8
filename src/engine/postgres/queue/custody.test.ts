import { expect, test } from "vitest"
import type { TaskId } from "../../../task/id.ts"
import { useTestQueue } from "../../../../test/support/postgres/queue.ts"
import { createCustody } from "./custody.ts"
import { createQueuedRows } from "./queued-rows.ts"
import type { Take } from "./take.ts"
import { toQueueEntry } from "./ticket-id.ts"

const subject = useTestQueue()

const fetchOne = () => subject.boss.fetch("shell", { query: subject.database.query, limit: 1 })

function openCustody(onRelease = (): void => {}) {
  const { boss, database } = subject
  const queued = createQueuedRows(database.query, undefined)
  const parts = { query: database.query, boss, queued, patienceMs: 60_000, onRelease: async () => onRelease() }
  return { queued, custody: createCustody(parts) }
}

/** Gives back a ticket that was fetched in a transaction which ended so. */
async function giveBack(ending: Awaited<Take["ended"]>): Promise<void> {
  const { queued, custody } = openCustody()
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

test("nobody is told of a ticket that was locked first, then fetched in the same transaction, and claimed", async () => {
  let told = 0
  const { queued, custody } = openCustody(() => (told += 1))
  const [taskId] = (await subject.queue(1, {})) as [TaskId]
  const [ticket] = await fetchOne()
  if (!ticket) throw new Error("there is no ticket")
  const [row] = await queued.read([toQueueEntry(ticket.id).number])
  const taken = Promise.withResolvers<"committed">()
  custody.add("shell", [{ id: ticket.id, retryCount: null, row }], taken.promise)
  custody.add("shell", [{ ...ticket, row }], taken.promise)
  const claim = custody.beginClaim(taskId, 1)
  taken.resolve("committed")
  await custody.refresh()
  claim?.succeed()
  expect(custody.rows()).toEqual([])
  expect(told).toBe(0)
})
