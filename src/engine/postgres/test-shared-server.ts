import { once } from "node:events"
import { createServer } from "node:net"
import type { TestServer } from "./test-server.ts"

/** Names the port where test files ask for the server that they share. It is not set outside of a test run. */
const DOOR = "MEANWHILE_TEST_POSTGRES_DOOR"

/**
 * Runs once, in the process that starts the test files, and costs a listening port: the server itself is started for the
 * first that asks. It ends with this process.
 */
export async function setup(): Promise<() => Promise<void>> {
  let server: Promise<TestServer> | undefined
  async function start(): Promise<TestServer> {
    const { startTestServer } = await import("./test-server.ts")
    return startTestServer()
  }
  const door = createServer((visitor) => {
    server ??= start()
    visitor.on("error", () => visitor.destroy())
    server.then(({ url }) => visitor.end(url)).catch((error: unknown) => visitor.end(String(error)))
  })
  door.unref().listen(0, "127.0.0.1")
  await once(door, "listening")
  const address = door.address()
  process.env[DOOR] = typeof address === "object" ? String(address?.port) : ""
  return async () => {
    door.close()
    await (await server)?.stop()
  }
}
