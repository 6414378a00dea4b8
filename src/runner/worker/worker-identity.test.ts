import { expect, test } from "vitest"
import { isNeighbourAlive, isWorkerAlive, toWorkerIdentity } from "./worker-identity.ts"

test("where several machines use a store, nobody knows whether a worker of another machine lives", () => {
  const here = toWorkerIdentity()
  const gone = { ...here, startedAt: "never" }
  const elsewhere = { ...here, bootId: "of another machine/1" }
  expect([here, gone, elsewhere].map(isNeighbourAlive)).toEqual([true, false, undefined])
  // Where only this machine uses the store, it was restarted since then.
  expect([here, gone, elsewhere].map(isWorkerAlive)).toEqual([true, false, false])
})
