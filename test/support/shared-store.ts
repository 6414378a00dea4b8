import { onTestFinished } from "vitest"
import { createTestDatabase } from "./postgres/server.ts"

/** The URL of a store that programs can share, which goes with the test. */
export async function createSharedStore(): Promise<string> {
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  return url
}
