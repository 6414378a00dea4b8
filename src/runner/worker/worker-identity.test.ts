import { expect, test } from "vitest"
import { isNeighbourAlive, isWorkerAlive, toWorkerIdentity } from "./worker-identity.ts"

test("of a worker of another machine nothing can be told, where several machines use a store", () => {
  const here = toWorkerIdentity()
  const gone = { ...here, startedAt: "never" }
  const elsewhere = { ...here, bootId: "of another machine/1" }
  expect([here, gone, elsewhere].map(isNeighbourAlive)).toEqual([true, false, undefined])
  // Where only this machine does, it was started again since.
  expect([here, gone, elsewhere].map(isWorkerAlive)).toEqual([true, false, false])
})
