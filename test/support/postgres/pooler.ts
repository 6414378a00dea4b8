import { type AddressInfo, createServer, type Socket } from "node:net"
import { isOfType, readRequests, readStartup, type Startup, toMessage } from "./messages.ts"
import { toErrorResponse } from "./refusal.ts"
import { openSession, type Session } from "./session.ts"

export interface PoolerKind {
  /** A client keeps its server session until it disconnects (`session`), or gets another one for each transaction. */
  readonly handsOutBy: "session" | "transaction"
  /** What the pooler does with a client's settings: refuses the client, drops them, or opens sessions with them. */
  readonly settings: "refused" | "dropped" | "kept"
}

/** A pooler between clients and a server without passwords, which hands out the server's sessions. */
export interface Pooler extends AsyncDisposable {
  /** The server's URL, through here. */
  readonly url: string
}

/** Startup parameters that do not count as settings of the session. */
const PLAIN: ReadonlySet<string> = new Set(["user", "database", "client_encoding", "application_name"])
const AUTHENTICATED = toMessage("R", Buffer.alloc(4))
const MADE_UP_PROCESS = toMessage("K", Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]))
const READY = toMessage("Z", Buffer.from("I"))
/** So many sessions must be free before one is handed out again: a client never gets the session just given back. */
const FEWEST_FREE = 2

export async function startPooler(serverUrl: string, { handsOutBy, settings }: PoolerKind): Promise<Pooler> {
  const sockets = new Set<Socket>()
  const free = new Map<string, Session[]>()

  function keep(socket: Socket): void {
    sockets.add(socket)
    socket.on("error", () => {}).on("close", () => sockets.delete(socket))
  }

  async function take(given: Startup): Promise<Session> {
    const fitting = freeOf(given)
    if (fitting.length >= FEWEST_FREE) return fitting.shift() ?? take(given)
    const session = await openSession(new URL(serverUrl), given)
    keep(session.socket)
    return session
  }

  function freeOf(given: Startup): Session[] {
    const key = JSON.stringify([...given])
    const found = free.get(key) ?? []
    free.set(key, found)
    return found
  }

  async function serve(client: Socket): Promise<void> {
    const requests = readRequests(client)
    const { value: startup } = await requests.next()
    if (!startup) return
    const brought = readStartup(startup)
    const setting = [...brought.keys()].find((name) => !PLAIN.has(name))
    if (settings === "refused" && setting !== undefined)
      return void client.end(toErrorResponse("08P01", `unsupported startup parameter: ${setting}`))
    const given = settings === "kept" ? brought : new Map([...brought].filter(([name]) => PLAIN.has(name)))
    let session: Session | undefined = await take(given)
    client.on("close", () => session?.socket.destroy())
    client.write(toGreeting(session))
    session = held(session)
    for await (const request of requests) {
      session ??= await take(given)
      session.holder = client
      const isInTransaction = await session.ask(request)
      if (!isInTransaction) session = held(session)
    }

    /** The session that the client keeps between its transactions, if it keeps one. */
    function held(used: Session): Session | undefined {
      used.holder = handsOutBy === "session" ? client : undefined
      if (handsOutBy === "session") return used
      freeOf(given).push(used)
      return undefined
    }
  }

  function toGreeting({ greeting }: Session): Buffer {
    const said = handsOutBy === "session" ? greeting : greeting.filter((message) => isOfType(message, "S"))
    const process = handsOutBy === "session" ? [] : [MADE_UP_PROCESS]
    return Buffer.concat([AUTHENTICATED, ...said, ...process, READY])
  }

  const server = createServer({ noDelay: true }, (client) => {
    keep(client)
    serve(client)
      .catch(() => {})
      .finally(() => client.end())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = new URL(serverUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
