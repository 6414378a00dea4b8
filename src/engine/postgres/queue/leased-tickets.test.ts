import { expect, test } from "vitest"
import type { TaskId } from "../../../task/id.ts"
import { toRequest, useTestQueue } from "../../../../test/support/postgres/queue.ts"
import { createLeasedTickets } from "./leased-tickets.ts"
import { createQueuedRuns } from "./queued-runs.ts"

const subject = useTestQueue()

const fetchOne = () => subject.boss.fetch("shell", { limit: 1 })

function open(onRelease = (): void => {}, patienceMs = 60_000) {
  const { boss, database } = subject
  const queued = createQueuedRuns(database.query, undefined)
  return createLeasedTickets({ query: database.query, boss, queued, patienceMs, onRelease: async () => onRelease() })
}

const lease = async (leased: ReturnType<typeof open>) => leased.add("shell", await fetchOne(), toRequest())

test("a ticket that is released is there for others, who are told", async () => {
  let told = 0
  const [id] = (await subject.queue(1, {})) as [TaskId]
  const leased = open(() => (told += 1))
  expect(await lease(leased)).toMatchObject([{ id, fits: true }])
  expect(await fetchOne()).toEqual([])
  leased.release([id])
  await leased.close()
  expect(told).toBe(1)
  expect(await fetchOne()).toHaveLength(1)
})

test("a ticket that nobody claims goes back by itself", async () => {
  await subject.queue(1, {})
  const leased = open(() => {}, 20)
  await lease(leased)
  await expect.poll(async () => (await fetchOne()).length).toBe(1)
  await leased.close()
})

test("a ticket whose run is being claimed is neither released nor checked", async () => {
  let told = 0
  const [id] = (await subject.queue(1, {})) as [TaskId]
  const leased = open(() => (told += 1))
  await lease(leased)
  const claim = leased.beginClaim(id, 1)
  leased.release([id])
  expect(await leased.check(toRequest())).toEqual([])
  claim?.succeed()
  await leased.close()
  expect(told).toBe(0)
  expect(await fetchOne()).toEqual([])
})

test("a run that does not fit a request is leased all the same, and marked as not fitting", async () => {
  await subject.queue(1, { tool: "strange" })
  const leased = open()
  const request = toRequest({ tools: new Map([["shell", new Set(["run"])]]) })
  expect(await leased.add("shell", await fetchOne(), request)).toMatchObject([{ fits: false }])
  expect(await leased.check(toRequest())).toMatchObject([{ fits: true }])
  await leased.close()
})
