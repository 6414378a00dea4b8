import { afterEach, beforeEach, expect, test } from "vitest"
import { createLogFlush } from "./disk-wait.ts"
import { createFolder } from "../../../../test/support/embedded/store.ts"

let path: string
let remove: () => Promise<void>

beforeEach(async () => {
  ;({ path, remove } = await createFolder())
})

afterEach(() => remove())

test("a log that cannot be opened is not on the disk", async () => {
  const flush = createLogFlush(path)
  expect(await flush.handOver()).toBe(false)
  flush.close()
})
