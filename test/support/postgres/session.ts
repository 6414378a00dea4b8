import { connect, type Socket } from "node:net"
import { isOfType, readMessages, type Startup, toStartup } from "./messages.ts"

/** A session of a server, as a pooler has it. */
export interface Session {
  readonly socket: Socket
  /** What the server said of itself, and of the process that serves it. */
  readonly greeting: readonly Buffer[]
  /** Who is given what the server says. Undefined: it is lost. */
  holder: Socket | undefined
  /** Resolves once the server waits for the next one: whether a transaction is open then. */
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
