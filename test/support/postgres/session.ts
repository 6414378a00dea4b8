import { connect, type Socket } from "node:net"
import { isOfType, readMessages, type Startup, toStartup } from "./messages.ts"

/** A server session that a pooler hands out. */
export interface Session {
  readonly socket: Socket
  /** The server's parameters and the key of its backend process, as sent at the start. */
  readonly greeting: readonly Buffer[]
  /** The client that gets the server's messages. Undefined: they are dropped. */
  holder: Socket | undefined
  /** Sends the request, and resolves once the server is ready for the next one: true if a transaction is open then. */
  ask(request: Buffer): Promise<boolean>
}

export async function openSession({ port, hostname }: URL, given: Startup): Promise<Session> {
  const socket = connect({ port: Number(port), host: hostname, noDelay: true })
  const greeting: Buffer[] = []
  let onReady = (_isInTransaction: boolean): void => {}

  function ask(request: Buffer): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    onReady = resolve
    socket.write(request)
    return promise
  }

  async function listen(): Promise<void> {
    for await (const message of readMessages(socket, "server")) {
      if (session.holder) session.holder.write(message)
      else if (isOfType(message, "S") || isOfType(message, "K")) greeting.push(message)
      if (isOfType(message, "Z")) onReady(message.at(-1) !== IDLE)
    }
  }

  const session: Session = { socket, greeting, holder: undefined, ask }
  listen().catch(() => {})
  socket.on("error", () => {}).on("close", () => session.holder?.destroy())
  await ask(toStartup(given))
  return session
}

const IDLE = "I".charCodeAt(0)
