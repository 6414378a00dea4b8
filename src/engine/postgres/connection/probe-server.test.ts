import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { createTestDatabase } from "../../../../test/support/postgres/server.ts"
import { toClientSettings } from "./client-settings.ts"
import { probeServer } from "./probe-server.ts"

const GOODBYE = "X".charCodeAt(0)

/** Stands before a server and passes everything on, except the message by which a client ends its connection. */
async function startDeafDoor(serverUrl: string): Promise<string> {
  const { port, hostname } = new URL(serverUrl)
  const sockets: Socket[] = []
  const door = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(Number(port), hostname)
    sockets.push(client, upstream)
    for (const socket of [client, upstream]) socket.on("error", () => {})
    client.on("data", (data) => data[0] !== GOODBYE && upstream.write(data))
    upstream.on("data", (data) => client.write(data))
  })
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    door.close()
  })
  const url = new URL(serverUrl)
  url.port = String((door.address() as AddressInfo).port)
  return url.href
}

test("a server that has answered is there, even if it never hears that the connection ends", async () => {
  await using place = await createTestDatabase({ isEmpty: true })
  const url = await startDeafDoor(place.url)
  await expect(probeServer(toClientSettings({ url }))).resolves.toBeUndefined()
})
