import { expect, test } from "vitest"
import { createClientOf } from "../../src/session/client.ts"
import type { Session } from "../../src/session/conversation/session.ts"
import { openAgent } from "../support/session/open-agent.ts"

test("a client closes its runtime although its session cannot be closed", async () => {
  const { session } = await openAgent([])
  const broken: Session = Object.assign(Object.create(session) as Session, {
    close: () => Promise.reject(new Error("the store is gone")),
  })
  let isClosed = false
  const client = createClientOf(async () => ({
    createSession: async () => broken,
    async [Symbol.asyncDispose]() {
      isClosed = true
    },
  }))
  await client.connect()
  await expect(client.close()).rejects.toThrow("the store is gone")
  expect(isClosed).toBe(true)
})
