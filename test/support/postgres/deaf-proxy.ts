import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A proxy between a client and a server that can drop notifications, or all messages of the server. */
export interface DeafProxy extends AsyncDisposable {
  /** The server's URL, through here. */
  readonly url: string
  /** `deaf`: drops notifications, like a pooler in transaction mode. `silent`: drops everything that the server sends. */
  mode: "open" | "deaf" | "silent"
  readonly connectionCount: () => number
}

const NOTIFICATION = "A".charCodeAt(0)
/** A letter and the length, which counts itself. */
const HEAD_BYTES = 5

export async function startDeafProxy(serverUrl: string): Promise<DeafProxy> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let connectionCount = 0
  const isPassed = (type: number | undefined) =>
    proxy.mode === "open" || (proxy.mode === "deaf" && type !== NOTIFICATION)
  const server = createServer({ noDelay: true }, (client) => {
    connectionCount += 1
    const upstream = connect({ port: Number(target.port), host: target.hostname, noDelay: true })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on("error", () => other.destroy()).on("close", () => other.destroy())
    }
    client.pipe(upstream)
    let unread: Buffer = Buffer.alloc(0)
    upstream.on("data", (data: Buffer) => {
      unread = Buffer.concat([unread, data])
      while (unread.length >= HEAD_BYTES && unread.length > unread.readUInt32BE(1)) {
        const length = unread.readUInt32BE(1) + 1
        if (isPassed(unread[0])) client.write(unread.subarray(0, length))
        unread = unread.subarray(length)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = new URL(serverUrl)
  url.port = String((server.address() as AddressInfo).port)
  const proxy: DeafProxy = {
    url: url.href,
    mode: "open",
    connectionCount: () => connectionCount,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}
