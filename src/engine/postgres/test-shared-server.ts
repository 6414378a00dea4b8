import { once } from "node:events"
import { createServer } from "node:net"
import { SHARED_SERVER_DOOR, startTestServer, type TestServer } from "./test-server.ts"

/**
 * Runs once, in the process that starts the test files, and costs a listening port: the server itself is started for the
 * first that asks. It ends with this process.
 */
export async function setup(): Promise<() => Promise<void>> {
  let server: Promise<TestServer> | undefined
  const door = createServer((visitor) => {
    server ??= startTestServer()
    visitor.on("error", () => visitor.destroy())
    server.then(({ url }) => visitor.end(url)).catch(() => visitor.destroy())
  })
  door.unref().listen(0, "127.0.0.1")
  await once(door, "listening")
  const address = door.address()
  process.env[SHARED_SERVER_DOOR] = typeof address === "object" ? String(address?.port) : ""
  return async () => {
    door.close()
    await (await server)?.stop()
  }
}
