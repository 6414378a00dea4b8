import { expect, test } from "vitest"
import { useTestQueue } from "../../../../test/support/postgres/queue.ts"

const subject = useTestQueue()

const PLUGIN = "shell"
const fetchIds = async (limit = 10) => (await subject.boss.fetch(PLUGIN, { limit })).map(({ id }) => id)

test("a ticket that was fetched is handed to nobody else until it is given back", async () => {
  await subject.queue(3, {})
  const fetched = await subject.boss.fetch(PLUGIN, { limit: 2 })
  expect(fetched).toHaveLength(2)
  expect(await fetchIds()).toHaveLength(1)
  await subject.boss.giveBack(PLUGIN, fetched)
  expect((await fetchIds()).toSorted()).toEqual(fetched.map(({ id }) => id).toSorted())
})

test("a ticket that was fetched again since is not given back by the process that had it before", async () => {
  await subject.queue(1, {})
  const before = await subject.boss.fetch(PLUGIN, { limit: 1 })
  await subject.boss.giveBack(PLUGIN, before)
  expect(await fetchIds()).toHaveLength(1)
  await subject.boss.giveBack(PLUGIN, before)
  expect(await fetchIds()).toEqual([])
})

test("the most urgent tickets are fetched first, without those of workspaces that stand back", async () => {
  await subject.queue(1, { priority: 1 })
  await subject.queue(1, { priority: 3, workspace: "other" })
  await subject.queue(1, { priority: 2 })
  await subject.queue(1, { priority: 0 })
  const choices = { without: ["other"], above: 0 }
  expect(await subject.boss.fetch(PLUGIN, { ...choices, limit: 1 })).toHaveLength(1)
  expect(await subject.boss.fetch(PLUGIN, { ...choices, limit: 9 })).toHaveLength(1)
  expect(await subject.boss.fetch(PLUGIN, { above: 1, limit: 9 })).toHaveLength(1)
  expect(await fetchIds()).toHaveLength(1)
})

test("tickets that a transaction inserts are there once it is committed, and never if it is not", async () => {
  const ticket = { id: crypto.randomUUID(), plugin: PLUGIN, workspace: "home", priority: 0 }
  await subject.boss.insert(subject.database.query, [])
  const failing = subject.database.transaction(async (query) => {
    await subject.boss.insert(query, [ticket])
    expect(await fetchIds()).toEqual([])
    throw new Error("not this time")
  })
  await expect(failing).rejects.toThrow("not this time")
  expect(await fetchIds()).toEqual([])
  await subject.database.transaction((query) => subject.boss.insert(query, [ticket]))
  expect(await fetchIds()).toEqual([ticket.id])
})
