import { once } from "node:events"
import { connect, createServer } from "node:net"
import { text } from "node:stream/consumers"

/** Names the port where test files ask for the server that they share. It is not set outside of a test run. */
const DOOR = "MEANWHILE_TEST_POSTGRES_DOOR"

/** Tells the server's URL to test files in this process and in processes that it starts from now on. */
export async function openDoor(findUrl: () => Promise<string>): Promise<AsyncDisposable> {
  const door = createServer((visitor) => {
    visitor.on("error", () => visitor.destroy())
    findUrl().then(
      (url) => visitor.end(url),
      (error: unknown) => visitor.end(String(error)),
    )
  })
  door.unref().listen(0, "127.0.0.1")
  await once(door, "listening")
  const address = door.address()
  process.env[DOOR] = typeof address === "object" ? String(address?.port) : ""
  return {
    async [Symbol.asyncDispose]() {
      door.close()
    },
  }
}

/** The URL of the server that test files share; undefined outside of a test run. */
export async function askForSharedServer(): Promise<string | undefined> {
  const port = Number(process.env[DOOR])
  if (!port) return undefined
  const answer = await text(connect(port, "127.0.0.1"))
  if (!answer.startsWith("postgres:")) throw new Error(answer)
  return answer
}
