import { expect, test } from "vitest"
import { collectGarbage } from "../support/collect-garbage.ts"
import { eventually } from "../support/eventually.ts"
import { createTestSpool } from "../support/spool.ts"

const MEBIBYTE = 1_024 * 1_024

function heldBytes(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

/** The bytes held once all memory of earlier tests is free. */
async function settledBytes(): Promise<number> {
  let last = heldBytes()
  await eventually("no more memory comes free", () => last === (last = heldBytes()))
  return last
}

test("output that has moved to the disk is no longer held in memory", async () => {
  const { run } = createTestSpool()
  const before = await settledBytes()
  for (let count = 0; count < 32; count++) run.write(Buffer.alloc(MEBIBYTE, "x"))
  expect(heldBytes() - before).toBeGreaterThan(30 * MEBIBYTE)
  run.keep()
  await run.flush()
  // When the collector lets go of a buffer is its own affair; that nothing holds it any longer is ours.
  await eventually("the memory is free", () => heldBytes() - before < 4 * MEBIBYTE)
  expect((await run.read({ tailBytes: 10 })).totalBytes).toBe(32 * MEBIBYTE)
})
