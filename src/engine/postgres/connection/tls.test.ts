import { readFileSync } from "node:fs"
import { type AddressInfo, connect, createServer } from "node:net"
import { TLSSocket } from "node:tls"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest"
import { createTestDatabase, type TestDatabase } from "../../../../test/support/postgres/server.ts"
import { openDatabase } from "./open-database.ts"

/** A self-signed certificate of localhost alone, valid for a hundred years. */
const CERTIFICATE = fileURLToPath(new URL("../../../../test/support/postgres/certificate.pem", import.meta.url))
const KEY = fileURLToPath(new URL("../../../../test/support/postgres/key.pem", import.meta.url))

describe("TLS by URL", () => {
  let place: TestDatabase
  let url: string
  const server = createServer()

  beforeAll(async () => {
    place = await createTestDatabase()
    const key = readFileSync(KEY)
    const cert = readFileSync(CERTIFICATE)
    const target = new URL(place.url)
    // Speaks TLS in place of the server. A client asks for it before anything else.
    server.on("connection", (socket) => {
      socket.once("data", () => {
        socket.write("S")
        const secure = new TLSSocket(socket, { isServer: true, key, cert })
        const upstream = connect(Number(target.port), target.hostname)
        for (const one of [socket, secure, upstream]) one.on("error", () => upstream.destroy())
        secure.pipe(upstream).pipe(secure)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve))
    url = `postgres://postgres@localhost:${(server.address() as AddressInfo).port}${target.pathname}`
  })

  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve))
    await place.drop()
  })

  test("a certificate of a named authority is trusted", async () => {
    const database = await openDatabase({ url: `${url}?sslmode=verify-full&sslrootcert=${CERTIFICATE}` })
    expect(await database.query("SELECT 1 AS one")).toEqual([{ one: 1 }])
    await database.close()
  })

  test.each(["prefer", "require", "verify-ca"])("sslmode=%s checks it too, without a warning", async (mode) => {
    const warned = vi.spyOn(process, "emitWarning").mockReturnValue(undefined)
    onTestFinished(() => warned.mockRestore())
    const refused = openDatabase({ url: `${url}?sslmode=${mode}`, startPatienceMs: 0 })
    await expect(refused).rejects.toMatchObject({ code: "store_unavailable", message: /sslrootcert/ })
    expect(warned).not.toHaveBeenCalled()
  })

  test("a parameter that is not known, such as a misspelt one for TLS, is refused", async () => {
    const refused = openDatabase({ url: `${url}?sslmod=verify-full` })
    await expect(refused).rejects.toMatchObject({ code: "invalid_input", message: /sslmode/ })
    const database = await openDatabase({ url: `${url}?sslmode=no-verify&connect_timeout=9&channel_binding=require` })
    await database.close()
  })

  test("a certificate of an unknown authority is refused, unless nothing is to be checked", async () => {
    const refused = openDatabase({ url: `${url}?sslmode=verify-full`, startPatienceMs: 0 })
    await expect(refused).rejects.toMatchObject({ code: "store_unavailable", message: /sslrootcert/ })
    const database = await openDatabase({ url: `${url}?sslmode=no-verify` })
    await database.close()
  })
})
