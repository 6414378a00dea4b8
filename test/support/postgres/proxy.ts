import { createServer, connect, type AddressInfo, type Socket } from "node:net"

/** A proxy between a client and a server that breaks connections as a network does. */
export interface Proxy extends AsyncDisposable {
  /** The server's URL, through here. */
  readonly url: string
  /**
   * Decides what becomes of data that the client sends. `pass` sends the data on; `cut` ends the connection instead; `swallow`
   * sends the data on, and ends the connection instead of passing the answer on; `hold` does nothing, like a server that hangs;
   * `delay` ends the client's connection, and sends the data on when `deliver` is called; bytes are sent back as the answer,
   * and the connection ends. Data that the client sends behind a promise waits for it.
   */
  onRequest: (data: Buffer) => Wish | Promise<Wish>
  /** Sends the delayed data, and resolves once the server is done with it. */
  deliver(): Promise<void>
}

type Wish = "pass" | "cut" | "swallow" | "hold" | "delay" | Buffer

export async function startProxy(serverUrl: string): Promise<Proxy> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  const delayed: (() => Promise<void>)[] = []
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    let isSwallowing = false
    let isDelaying = false
    const end = (): void => {
      client.destroy()
      if (!isDelaying) upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on("error", end)
      socket.on("close", () => {
        sockets.delete(socket)
        end()
      })
    }
    const grant = (wish: Wish, data: Buffer): void => {
      if (wish === "hold") return
      if (wish === "cut") return end()
      if (Buffer.isBuffer(wish)) return void client.end(wish)
      if (wish === "delay") {
        isDelaying = true
        delayed.push(() => finish(upstream, data))
        return end()
      }
      if (wish === "swallow") isSwallowing = true
      upstream.write(data)
    }
    client.on("data", (data) => {
      const wish = proxy.onRequest(data)
      if (!(wish instanceof Promise)) return grant(wish, data)
      client.pause()
      wish.then((known) => grant(known, data), end).finally(() => client.resume())
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
    async deliver() {
      for (const send of delayed.splice(0)) await send()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}

/** Sends the data and closes the connection: the server reads the data before it sees the end. */
async function finish(upstream: Socket, data: Buffer): Promise<void> {
  const isOver = new Promise((resolve) => upstream.once("close", resolve))
  upstream.end(data)
  await isOver
}
