import { execFileSync, spawnSync } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { type AddressInfo, connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { TLSSocket } from "node:tls"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createTestDatabase, type TestDatabase } from "../test-server.ts"
import { openDatabase } from "./open-database.ts"

const OPENSSL = "openssl"
const hasOpenssl = spawnSync(OPENSSL, ["version"]).status === 0

describe.skipIf(!hasOpenssl)("TLS by URL", () => {
  let place: TestDatabase
  let folder: string
  let url: string
  const server = createServer()

  beforeAll(async () => {
    place = await createTestDatabase()
    folder = await mkdtemp(join(tmpdir(), "meanwhile-tls-"))
    const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")]
    const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    execFileSync(OPENSSL, ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...files, ...name], {
      stdio: "ignore",
    })
    const [key, cert] = await Promise.all([readFile(join(folder, "key.pem")), readFile(join(folder, "cert.pem"))])
    const target = new URL(place.url)
    // Speaks TLS for the server, which a client asks for before anything else.
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
    await rm(folder, { recursive: true })
  })

  test("a certificate of a named authority is trusted", async () => {
    const database = await openDatabase({ url: `${url}?sslmode=verify-full&sslrootcert=${join(folder, "cert.pem")}` })
    expect(await database.query("SELECT 1 AS one")).toEqual([{ one: 1 }])
    await database.close()
  })

  test("one of an unknown authority is refused, unless nobody is to look", async () => {
    const refused = openDatabase({ url: `${url}?sslmode=verify-full`, openPatienceMs: 0 })
    await expect(refused).rejects.toMatchObject({ code: "store_unavailable", message: /sslrootcert/ })
    const database = await openDatabase({ url: `${url}?sslmode=no-verify` })
    await database.close()
  })
})
