import { expect, test } from "vitest"
import { createTestPostgres } from "../test-engine.ts"

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
