import { expect, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { silentLog } from "../../src/runner/redaction/redacting-log.ts"
import { createWorker } from "../../src/runner/worker/worker.ts"
import type { TaskStore } from "../../src/task/store.ts"

test("a renewal from before a process stood still does not prove that the lease is still its own", async () => {
  const clock = createManualClock()
  const first = Promise.withResolvers<unknown>()
  const renewals = [first.promise]
  const commit = ([operation]: readonly { readonly op: string }[]) => {
    if (operation?.op !== "lease.renew") return Promise.resolve([{ key: "worker:one", fence: 1 }])
    return renewals.shift() ?? Promise.reject(new MeanwhileError("stale_claim", "Another worker has it."))
  }
  const worker = await createWorker({
    store: { commit } as unknown as TaskStore,
    clock,
    leaseMs: 10_000,
    identity: {},
    home: { spoolPlace: "", dataFolderId: null },
    log: silentLog,
    onLost: () => {},
    onBack: () => {},
  })
  const underWay = worker.confirm()
  clock.advance(60_000)
  const asked = worker.confirm()
  first.resolve([{}])
  expect(await underWay).toBe(true)
  expect(await asked).toBe(false)
})
