import { onTestFinished } from "vitest"
import { createTestDatabase } from "./postgres/server.ts"

/** Creates a store that several programs can share, and returns its URL. It is removed after the test. */
export async function createSharedStore(): Promise<string> {
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  return url
}
