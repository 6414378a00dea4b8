import { createServer, connect, type AddressInfo, type Socket } from "node:net"

/** Stands between a client and a server, and does to the connection what a network does. */
export interface Proxy extends AsyncDisposable {
  /** The server's URL, through here. */
  readonly url: string
  /**
   * Looks at what the client sends. `pass` sends it on; `cut` ends the connection instead; `swallow` sends it on, and ends
   * the connection once it is answered; `hold` does nothing, as a server that hangs; bytes are an answer, and the end.
   */
  onRequest: (data: Buffer) => "pass" | "cut" | "swallow" | "hold" | Buffer
}

export async function startProxy(serverUrl: string): Promise<Proxy> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    let isSwallowing = false
    const end = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on("error", end)
      socket.on("close", () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on("data", (data) => {
      const wish = proxy.onRequest(data)
      if (wish === "hold") return
      if (wish === "cut") return end()
      if (Buffer.isBuffer(wish)) return void client.end(wish)
      if (wish === "swallow") isSwallowing = true
      upstream.write(data)
    })
    upstream.on("data", (data) => {
      if (isSwallowing) return end()
      client.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = new URL(serverUrl)
  url.port = String((server.address() as AddressInfo).port)
  const proxy: Proxy = {
    url: url.href,
    onRequest: () => "pass",
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}
