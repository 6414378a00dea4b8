import { Socket } from "node:net"

/**
 * The sockets of connections. pg ends a connection only once the server has answered, and a server that hangs never
 * does.
 */
export function createSockets() {
  const open = new Set<Socket>()
  return {
    create(): Socket {
      const socket = new Socket()
      open.add(socket)
      socket.once("close", () => open.delete(socket))
      return socket
    },
    /** Destroys all sockets at once, whatever was asked on them. */
    destroyAll(): void {
      for (const socket of open) socket.destroy()
    },
    /** Lets the process end although sockets are open: pg leaves one open when it has no password for a server that asks. */
    letGo(): void {
      for (const socket of open) socket.unref()
    },
  }
}
