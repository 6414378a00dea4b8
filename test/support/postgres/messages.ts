import type { Socket } from "node:net"

/** A letter and the length, which counts itself. */
const HEAD_BYTES = 5

/** Splits the bytes of a socket into messages of PostgreSQL's protocol. The first message of a client has no type letter. */
export async function* readMessages(socket: Socket, from: "client" | "server"): AsyncGenerator<Buffer, void> {
  let unread: Buffer = Buffer.alloc(0)
  let letters = from === "client" ? 0 : 1
  for await (const data of socket) {
    unread = Buffer.concat([unread, data as Buffer])
    while (unread.length >= HEAD_BYTES && unread.length >= unread.readUInt32BE(letters) + letters) {
      const length = unread.readUInt32BE(letters) + letters
      yield unread.subarray(0, length)
      unread = unread.subarray(length)
      letters = 1
    }
  }
}

/** Joins all messages that a client sends before it waits for an answer. The first item is the startup message alone. */
export async function* readRequests(client: Socket): AsyncGenerator<Buffer, void> {
  const messages = readMessages(client, "client")
  const { value: startup } = await messages.next()
  if (startup) yield startup
  let begun: Buffer[] = []
  for await (const message of messages) {
    if (isOfType(message, "X")) return
    begun.push(message)
    if (!isOfType(message, "Q") && !isOfType(message, "S")) continue
    yield Buffer.concat(begun)
    begun = []
  }
}

export function isOfType(message: Buffer, letter: string): boolean {
  return message[0] === letter.charCodeAt(0)
}

export function toMessage(letter: string, body: Buffer): Buffer {
  const head = Buffer.from(`${letter}\0\0\0\0`)
  head.writeUInt32BE(body.length + 4, letter.length)
  return Buffer.concat([head, body])
}

const PROTOCOL = Buffer.from([0, 3, 0, 0])

export type Startup = ReadonlyMap<string, string>

/** The parameters of a startup message, by name. */
export function readStartup(message: Buffer): Startup {
  const words = message.subarray(8).toString().split("\0")
  const names = words.filter((word, index) => index % 2 === 0 && word !== "")
  return new Map(names.map((name, index) => [name, words[2 * index + 1] ?? ""]))
}

export function toStartup(given: Startup): Buffer {
  const words = [...given].flat().map((word) => `${word}\0`)
  return toMessage("", Buffer.concat([PROTOCOL, Buffer.from(`${words.join("")}\0`)]))
}
