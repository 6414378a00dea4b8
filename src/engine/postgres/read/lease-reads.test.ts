import { expect, test } from "vitest"
import { createManualClock } from "../../../base/manual-clock.ts"
import { waitUntil } from "../../suite/subject.ts"
import { openDatabase } from "../connection/open-database.ts"
import { createTestPostgres } from "../../../../test/support/postgres/engine.ts"

test("a lease whose holder is known to be dead is over at once", async () => {
  const subject = await createTestPostgres({ isHolderAlive: ({ pid }) => (pid === 1 ? false : undefined) })
  try {
    const take = (key: string, pid: number) =>
      ({ op: "lease.take", key, holder: key, ttlMs: 60_000, data: { pid } }) as const
    await subject.engine.store.commit([take("worker/dead", 1), take("worker/unknown", 2)])
    const leases = await subject.engine.store.leases("worker/")
    expect(leases.map(({ key, isOver }) => [key, isOver])).toEqual([
      ["worker/dead", true],
      ["worker/unknown", false],
    ])
  } finally {
    await subject.dispose()
  }
})

test("a given clock decides when a lease is over", async () => {
  const clock = createManualClock()
  const subject = await createTestPostgres({ clock })
  const { store } = subject.engine
  const take = (holder: string) =>
    store.commit([{ op: "lease.take", key: "worker/slow", holder, ttlMs: 60_000, data: {} }])
  const isOver = async () => (await store.leases("worker/")).map((lease) => lease.isOver)
  try {
    await take("one")
    expect(await isOver()).toEqual([false])
    clock.advance(59_000)
    await expect(take("another")).rejects.toMatchObject({ code: "lease_held" })
    clock.advance(1_000)
    expect(await isOver()).toEqual([true])
    await take("another")
    expect(await isOver()).toEqual([false])
  } finally {
    await subject.dispose()
  }
})

test("a lease that was not renewed for long is silent before a process that has just started may call it over", async () => {
  const subject = await createTestPostgres()
  const database = await openDatabase({ url: subject.url, poolSize: 1 })
  try {
    const take = { op: "lease.take", holder: "h", ttlMs: 60_000, data: {} } as const
    await subject.engine.store.commit([
      { ...take, key: "worker/old" },
      { ...take, key: "worker/young" },
    ])
    await database.query("UPDATE leases SET renewed_at = renewed_at - interval '1 hour' WHERE key = 'worker/old'")
    const leases = await (await subject.another()).store.leases("worker/")
    expect(leases.map(({ key, isOver, isSilent }) => [key, isOver, isSilent])).toEqual([
      ["worker/old", false, true],
      ["worker/young", false, false],
    ])
  } finally {
    await database.close()
    await subject.dispose()
  }
})

test.each(["+", "-"])("a lease is judged by its renewals when the server's clock was set by %s1 hour", async (sign) => {
  const subject = await createTestPostgres()
  const { store } = subject.engine
  const database = await openDatabase({ url: subject.url, poolSize: 1 })
  const take = (key: string, ttlMs: number) => ({ op: "lease.take", key, holder: key, ttlMs, data: {} }) as const
  const isOver = async (key: string) => (await store.leases(key))[0]?.isOver
  try {
    const [, living] = await store.commit([take("worker/dead", 300), take("worker/living", 60_000)])
    await database.query(`UPDATE leases SET renewed_at = renewed_at ${sign} interval '1 hour'`)
    expect(await isOver("worker/living")).toBe(false)
    const { key, holder, fence } = living
    await store.commit([{ op: "lease.renew", key, holder, fence }])
    await waitUntil(() => isOver("worker/dead"))
    expect(await isOver("worker/living")).toBe(false)
  } finally {
    await database.close()
    await subject.dispose()
  }
})
