import pg from "pg"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import { eventually } from "../../../../test/support/eventually.ts"
import { runToEnd } from "../../../../test/support/program.ts"
import { createFolder } from "../../../../test/support/workplace.ts"
import { createEndedTask } from "../../suite/samples.ts"
import { createPostgresEngine } from "../engine.ts"
import { startTestServer, type TestServer } from "../../../../test/support/postgres/server.ts"

const MOST = 8
const NO_CONNECTION = /has no connection left\. Raise its max_connections, or .*pool_size=4.*too many clients/

let server: TestServer

beforeAll(async () => {
  server = await startTestServer({ settings: [`max_connections=${MOST}`, "superuser_reserved_connections=0"] })
})

afterAll(() => server.stop())

interface Crowd {
  /** Takes all connections that are left. */
  fill(): Promise<void>
  /** Ends the connections of engines, and takes them. */
  displace(): Promise<void>
  leave(): Promise<void>
}

function createCrowd(url: string): Crowd {
  const clients: pg.Client[] = []
  async function fill(): Promise<void> {
    for (let isIn = true; isIn; ) {
      const client = new pg.Client(url)
      client.on("error", () => {})
      isIn = await client.connect().then(
        () => true,
        () => false,
      )
      if (isIn) clients.push(client)
    }
  }
  const leave = async () => void (await Promise.all(clients.splice(0).map((client) => client.end())))
  onTestFinished(leave)
  return {
    fill,
    leave,
    async displace() {
      const sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'meanwhile'"
      await clients[0]?.query(sql)
      await fill()
    },
  }
}

test("a server without a free connection is reported at the start, and used once it has one", async () => {
  const { url } = await server.createDatabase()
  const crowd = createCrowd(url)
  await crowd.fill()
  await expect(createPostgresEngine({ url, startPatienceMs: 100 })).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringMatching(NO_CONNECTION),
  })
  const refused = await runToEnd({ directory: createFolder(), arguments: ["tasks", "--engine", url] })
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" })
  expect(refused.stderr).toMatch(NO_CONNECTION)

  const lines: string[] = []
  const opening = createPostgresEngine({ url, startPatienceMs: 60_000, tell: (line) => lines.push(line) })
  await eventually("it says that it waits", () => lines.some((line) => line.includes("Waiting for it")))
  await crowd.leave()
  await using engine = await opening
  expect(await createEndedTask(engine)).toMatchObject({ status: "completed" })
})

test("an engine goes on with the connections that it has, and with more once there are any", async () => {
  const { url } = await server.createDatabase()
  const lines: string[] = []
  await using engine = await createPostgresEngine({ url: `${url}?pool_size=4`, tell: (line) => lines.push(line) })
  const crowd = createCrowd(url)
  await crowd.fill()
  const work = () => Promise.all(Array.from({ length: 40 }, () => createEndedTask(engine)))
  for (const { status } of await work()) expect(status).toBe("completed")
  await crowd.leave()
  for (const { status } of await work()) expect(status).toBe("completed")
  await crowd.fill()
  const working = work()
  await eventually("it says that it waits", async () => {
    await crowd.displace()
    return lines.some((line) => NO_CONNECTION.test(line) && line.includes("Waiting for it"))
  })
  await crowd.leave()
  for (const { status } of await working) expect(status).toBe("completed")
  await eventually("it says that this is over", () => lines.at(-1)?.includes("is back, after"))
})
