import { openDoor } from "./door.ts"
import type { TestServer } from "./server.ts"

/**
 * Runs once, in the process that starts the test files, and only listens: the server starts when the first test file asks for
 * it, and ends with this process.
 */
export async function setup(): Promise<() => Promise<void>> {
  let server: Promise<TestServer> | undefined
  async function start(): Promise<TestServer> {
    try {
      const { startTestServer } = await import("./server.ts")
      return await startTestServer()
    } catch (error) {
      // The next test that asks tries again.
      server = undefined
      throw error
    }
  }
  const door = await openDoor(async () => (await (server ??= start())).url)
  return async () => {
    await door[Symbol.asyncDispose]()
    await (await server)?.stop()
  }
}
