import { describe, expect } from "vitest"
import { type EngineTest, expectRefusal, waitUntil } from "./subject.ts"

const LONG_MS = 60_000
const SHORT_MS = 60
/** Long enough that a busy machine does not pass it between two lines. */
const RENEWED_MS = 500

export function describeLeases(test: EngineTest): void {
  describe("leases", () => {
    test("are taken by one holder, renewed by it and refused to others", async ({ engine, another }) => {
      const other = await another()
      const [lease] = await engine.store.commit([take("one", LONG_MS)])
      expect(lease).toMatchObject({ key: "worker/1", holder: "one", ttlMs: LONG_MS, data: { pid: 1 }, isOver: false })
      await expectRefusal(other.store.commit([take("two", LONG_MS)]), "lease_held")
      await expectRefusal(engine.store.commit([take("two", LONG_MS)]), "lease_held")
      const { fence } = lease
      const [renewed] = await engine.store.commit([{ op: "lease.renew", key: "worker/1", holder: "one", fence }])
      expect(renewed).toMatchObject({ holder: "one", fence, isOver: false })
      expect(await other.store.leases("worker/")).toMatchObject([{ key: "worker/1", holder: "one", isOver: false }])
      expect(await other.store.leases("work_r/")).toEqual([])
    })

    test("exactly one of many takes a free key", async ({ engine, another }) => {
      const other = await another()
      const takes = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 ? engine : other).store.commit([take(`holder-${index}`, LONG_MS)]),
        ),
      )
      expect(takes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    })

    test("a holder that takes its lease again keeps the fence", async ({ engine }) => {
      const [first] = await engine.store.commit([take("one", LONG_MS)])
      const [second] = await engine.store.commit([take("one", SHORT_MS)])
      expect(second).toMatchObject({ fence: first.fence, ttlMs: SHORT_MS })
    })

    test("are over when their holder is silent, and taking them over raises the fence", async ({ engine, another }) => {
      const other = await another()
      const [lease] = await engine.store.commit([take("one", SHORT_MS)])
      await waitUntil(async () => (await other.store.leases("worker/"))[0]?.isOver)
      expect(await other.store.leases("worker/")).toMatchObject([{ isSilent: true }])
      const [taken] = await other.store.commit([take("two", LONG_MS)])
      expect(taken.fence).toBeGreaterThan(lease.fence)
      const former = { key: "worker/1", holder: "one", fence: lease.fence }
      await expectRefusal(engine.store.commit([{ op: "lease.renew", ...former }]), "stale_claim")
      await expectRefusal(engine.store.commit([{ op: "lease.release", ...former }]), "stale_claim")
      expect(await engine.store.leases("worker/1")).toMatchObject([{ holder: "two", isOver: false, isSilent: false }])
    })

    test("stay with a holder that renews them", async ({ engine, another }) => {
      const other = await another()
      const [{ fence }] = await engine.store.commit([take("one", RENEWED_MS)])
      const endsAt = performance.now() + 2 * RENEWED_MS
      while (performance.now() < endsAt) {
        await engine.store.commit([{ op: "lease.renew", key: "worker/1", holder: "one", fence }])
        await other.store.leases("worker/")
        await expectRefusal(other.store.commit([take("two", RENEWED_MS)]), "lease_held")
      }
    })

    test("a renewal whose lease was not taken over succeeds however late it comes", async ({ engine, another }) => {
      const other = await another()
      const [{ fence }] = await engine.store.commit([take("one", SHORT_MS)])
      await waitUntil(async () => (await other.store.leases("worker/"))[0]?.isOver)
      const renew = { op: "lease.renew", key: "worker/1", holder: "one", fence } as const
      await engine.store.commit([renew])
      // In one commit: on a busy machine the lease could be over again before another one.
      await expectRefusal(engine.store.commit([renew, take("two", LONG_MS)]), "lease_held")
    })

    test("are free after their release, and the next fence is higher", async ({ engine }) => {
      const [{ fence }] = await engine.store.commit([take("one", LONG_MS)])
      const release = { op: "lease.release", key: "worker/1", holder: "one", fence } as const
      expect(await engine.store.commit([release])).toEqual([null])
      expect(await engine.store.leases("")).toEqual([])
      await expectRefusal(engine.store.commit([release]), "stale_claim")
      await expectRefusal(engine.store.commit([{ ...release, op: "lease.renew" }]), "stale_claim")
      const [taken] = await engine.store.commit([take("one", LONG_MS)])
      expect(taken.fence).toBeGreaterThan(fence)
      await expectRefusal(engine.store.commit([{ ...release, op: "lease.renew" }]), "stale_claim")
    })

    test("survive the engine that wrote them", async ({ engine, reopen }) => {
      const [lease] = await engine.store.commit([take("one", LONG_MS)])
      expect(await (await reopen()).store.leases("worker/")).toEqual([lease])
    })
  })
}

function take(holder: string, ttlMs: number) {
  return { op: "lease.take", key: "worker/1", holder, ttlMs, data: { pid: 1 } } as const
}
