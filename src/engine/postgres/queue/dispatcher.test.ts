import { describe, expect, test } from "vitest"
import type { SessionId, TaskId } from "../../../task/id.ts"
import { waitUntil } from "../../suite/subject.ts"
import { DEFAULT_SCHEMA } from "../connection/client-settings.ts"
import type { PostgresDispatcher } from "./dispatcher.ts"
import { take, TICKETS, useTestQueue } from "../../../../test/support/postgres/queue.ts"

const HASTY_MS = 50
const subject = useTestQueue()

describe("leased tickets", () => {
  test("a ticket that one process has fetched is not handed to another, until it is given back", async () => {
    const [one, other] = [subject.open(), subject.open()]
    const ids = await subject.queue(5, {})
    expect(await take(one, { limit: 3 })).toEqual(ids.slice(0, 3))
    expect(await take(other)).toEqual(ids.slice(3))
    await one.close()
    expect(await take(other)).toEqual(ids)
  })

  test("workers that drain one queue do not run after the same tasks", async () => {
    const ids = await subject.queue(300, {})
    const claimed: TaskId[] = []
    async function work(dispatcher: PostgresDispatcher): Promise<void> {
      for (;;) {
        const offers = await take(dispatcher, { limit: 10 })
        if (offers.length === 0) return
        for (const id of offers)
          if (await subject.claim(dispatcher, id)) claimed.push(id)
          else missed++
      }
    }
    let missed = 0
    await Promise.all([subject.open(), subject.open(), subject.open()].map(work))
    expect(claimed.toSorted()).toEqual(ids.toSorted())
    expect(missed).toBe(0)
  })

  test("a claimed run is offered no more, and its ticket is removed", async () => {
    const dispatcher = subject.open()
    const [first, second] = await subject.queue(2, {})
    await take(dispatcher)
    await subject.claim(dispatcher, first)
    expect(await take(dispatcher)).toEqual([second])
    await waitUntil(async () => (await subject.countTickets()) === 1)
  })

  test("a run that is being claimed is not offered, unless the claim fails", async () => {
    const dispatcher = subject.open()
    const [id] = await subject.queue(1, {})
    expect(await take(dispatcher)).toEqual([id])
    const end = dispatcher.onClaim(id as TaskId, 1)
    expect(await take(dispatcher)).toEqual([])
    end("failed")
    expect(await take(dispatcher)).toEqual([id])
  })

  test("a run that left the queue elsewhere is neither offered nor kept", async () => {
    const dispatcher = subject.open()
    const [first, second] = await subject.queue(2, {})
    expect(await take(dispatcher)).toHaveLength(2)
    await subject.database.query("UPDATE tasks SET status = 'cancelled' WHERE id = $1", [first])
    expect(await take(dispatcher)).toEqual([second])
    await waitUntil(async () => (await subject.countTickets()) === 1)
  })

  test("hundreds of tickets without a run in the queue do not hide one that has", async () => {
    const dispatcher = subject.open()
    await subject.queue(700, {})
    await subject.database.query("UPDATE tasks SET status = 'cancelled'")
    const [id] = await subject.queue(1, {})
    expect(await take(dispatcher, { limit: 1 })).toEqual([id])
    await waitUntil(async () => (await subject.countTickets()) === 1)
  })

  test("a run whose ticket goes back and is fetched again in the same moment is offered once", async () => {
    // Leases end while a request is looked after, as on a server that answers slowly.
    const dispatcher = subject.open(1)
    const ids = await subject.queue(5, {})
    for (let round = 1; round <= 50; round++) {
      const offered = await take(dispatcher, { limit: 10 })
      expect(offered.filter((id, index) => offered.indexOf(id) !== index)).toEqual([])
    }
    await waitUntil(async () => (await take(dispatcher)).length === ids.length)
  })

  test("a more urgent run comes before those that are leased", async () => {
    const dispatcher = subject.open()
    const [first] = await subject.queue(3, {})
    expect(await take(dispatcher, { limit: 1 })).toEqual([first])
    const [urgent] = await subject.queue(1, { priority: 1 })
    expect(await take(dispatcher, { limit: 1 })).toEqual([urgent])
  })

  test("a run that does not fit here is soon found by a worker that it fits", async () => {
    const [one, other] = [subject.open(HASTY_MS), subject.open(HASTY_MS)]
    const session = "s1" as SessionId
    const [id] = await subject.queue(1, { session })
    expect(await take(one, { fullSessions: [session] })).toEqual([])
    await waitUntil(async () => (await take(other))[0] === id)
  })

  test("work behind hundreds of tasks of a full session is found", async () => {
    const dispatcher = subject.open()
    const session = "s1" as SessionId
    await subject.queue(1_000, { session })
    const [id] = await subject.queue(1, {})
    expect(await take(dispatcher, { limit: 4, fullSessions: [session] })).toEqual([id])
    expect(await take(dispatcher, { limit: 4, fullSessions: [session] })).toEqual([id])
  })
})

describe("lost tickets", () => {
  test("a run whose ticket is gone is offered all the same", async () => {
    const dispatcher = subject.open(HASTY_MS)
    const [id] = await subject.queue(1, {})
    await subject.database.query(`DELETE FROM ${TICKETS}`)
    expect(await take(dispatcher)).toEqual([])
    await waitUntil(async () => (await take(dispatcher))[0] === id)
  })

  test("a listener is told when it is time to look for such a run", async () => {
    const dispatcher = subject.open(HASTY_MS)
    await subject.queue(1, {})
    await subject.database.query(`DELETE FROM ${TICKETS}`)
    expect(await take(dispatcher)).toEqual([])
    const told = Promise.withResolvers<void>()
    dispatcher.onOffer(told.resolve)
    await told.promise
    expect(await take(dispatcher)).toHaveLength(1)
  })

  test("a run whose ticket a dead process holds is offered to others, and the claim removes the ticket", async () => {
    const [id] = await subject.queue(1, {})
    await subject.boss.fetch("shell", { limit: 1 })
    const dispatcher = subject.open(HASTY_MS)
    await waitUntil(async () => (await take(dispatcher))[0] === id)
    await subject.claim(dispatcher, id)
    await waitUntil(async () => (await subject.countTickets()) === 0)
  })

  test("a ticket that a dead process holds goes back into the queue at the next upkeep", async () => {
    await subject.queue(1, {})
    const [held] = await subject.boss.fetch("shell", { limit: 1 })
    await subject.boss.supervise()
    expect(await subject.boss.fetch("shell", { limit: 1 })).toEqual([])
    await subject.database.query(`UPDATE ${TICKETS} SET heartbeat_on = now() - interval '11 s'`)
    await subject.database.query(`UPDATE ${DEFAULT_SCHEMA}_queue.queue SET monitor_claim_on = NULL, monitor_on = NULL`)
    await subject.boss.supervise()
    expect(await subject.boss.fetch("shell", { limit: 1 })).toMatchObject([{ id: held?.id }])
  })

  test("an inserted ticket stays there for years", async () => {
    await subject.queue(1, {})
    const [row] = await subject.database.query<{ years: number }>(
      `SELECT extract(year FROM age(keep_until, start_after)) AS years FROM ${TICKETS}`,
    )
    expect(row?.years).toBeGreaterThan(60)
  })
})
