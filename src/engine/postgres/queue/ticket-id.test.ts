import { expect, test } from "vitest"
import { toTicketId, toQueueEntry } from "./boss.ts"

test("a ticket's id says which stay in the queue it stands for, and nothing else does", () => {
  const entry = { number: Number.MAX_SAFE_INTEGER, run: 2_147_483_647, fence: 4_294_967_295 }
  const id = toTicketId(entry)
  expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  expect(toQueueEntry(id)).toEqual(entry)
  expect(toTicketId({ number: 1, run: 2, fence: 3 })).toBe("00000000-0000-0001-0000-000200000003")
})
