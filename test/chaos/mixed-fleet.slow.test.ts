import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import pg from "pg"
import { expect, onTestFinished, test } from "vitest"
import { createPostgresEngine } from "../../src/engine/postgres/engine.ts"
import { createTestDatabase } from "../support/postgres/server.ts"
import type { ToolCall } from "../../src/plugin/task-service.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"
import { createCallers, listen } from "../support/chaos/callers.ts"
import { type Child, startChild } from "../support/chaos/child.ts"
import type { Command } from "../support/chaos/crash-protocol.ts"
import { parseWrittenEffects } from "../support/chaos/effects.ts"
import { KEPT_WORKERS } from "../support/chaos/kept-workers.ts"
import { findViolations } from "../support/chaos/outcome-invariants.ts"
import { withPatience } from "../support/patience.ts"
import { requireNone } from "../support/chaos/seed.ts"
import { describeLive, readHistories } from "../support/chaos/store-invariants.ts"
import { builtProgram } from "../support/built-program.ts"

const SLOTS = 3
const LEASE_SECONDS = 1
const PROGRAMS = {
  ...KEPT_WORKERS,
  "newest schema": builtProgram("crash-program"),
} as const
type Version = keyof typeof PROGRAMS

/** A store at the newest schema with columns of later versions, which no worker minds. */
async function createFleet() {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  await addColumns(database.url)
  const directory = createFolder()
  const engine = await createPostgresEngine({ url: database.url })
  onTestFinished(() => engine.close())
  const workers: Child[] = []
  const callers = createCallers()
  const readEffects = (): string => {
    const file = join(directory, "effects")
    return existsSync(file) ? readFileSync(file, "utf8") : ""
  }
  return {
    store: engine.store,
    async start(version: Version): Promise<Child> {
      const child = startChild({
        program: PROGRAMS[version],
        parameters: [directory, String(SLOTS), String(LEASE_SECONDS)],
        directory,
        environment: { MEANWHILE_ENGINE: database.url },
      })
      onTestFinished(() => void child.process.kill("SIGKILL"))
      workers.push(child)
      await child.said('"ready"')
      return child
    },
    /** The lines of the effects file that this worker's tools wrote: `did` or `done`, and the effect's key. */
    acts: ({ process }: Child) =>
      readEffects()
        .split("\n")
        .filter((line) => line.endsWith(` ${process.pid}`)),
    async settle(last: readonly Child[]): Promise<void> {
      const settled = last.map((child) => {
        send(child, { do: "settle" })
        return child.said('"settled"')
      })
      await withPatience(Promise.all(settled), () => describeLive(engine.store))
      for (const child of last) {
        send(child, { do: "leave" })
        await withPatience(child.exited, () => child.lines.join("\n"))
        expect(child.lines.at(-1)).toBe('{"finished":true}')
      }
      for (const child of workers) listen(child, callers)
      const effects = parseWrittenEffects(readEffects())
      requireNone(await findViolations(engine.store, { ...callers, effects }))
      expect(await engine.store.leases("worker:")).toEqual([])
      expect(await countTickets(database.url)).toBe(0)
    },
  }
}

async function addColumns(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'meanwhile'",
    )
    for (const { name } of rows) await client.query(`ALTER TABLE meanwhile.${name} ADD COLUMN added_later text`)
    await client.query("INSERT INTO meanwhile.store_versions (version, usable_from) VALUES (1000, 1)")
  } finally {
    await client.end()
  }
}

async function countTickets(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ count: string }>("SELECT count(*) FROM meanwhile_queue.job")
    return Number(rows[0]?.count)
  } finally {
    await client.end()
  }
}

function send(child: Child, command: Command): void {
  child.send(JSON.stringify(command))
}

function startAll(child: Child, calls: readonly ToolCall[]): void {
  for (const call of calls) send(child, { do: "start", call })
}

const steps = (tool: string, names: readonly string[], pauseMs: number): ToolCall => ({
  tool,
  input: { steps: [...names], pauseMs },
})

test.each(["first schema", "previous schema"] as const)(
  "workers of the %s and of the newest one share a queue, and each task is run once",
  async (older) => {
    const fleet = await createFleet()
    const pair = await Promise.all([fleet.start(older), fleet.start("newest schema")])
    for (const child of pair) {
      const parents = Array.from({ length: 4 }, () => ({
        tool: "parent",
        input: { childSteps: ["x-retry", "y-once"] },
      }))
      startAll(child, [
        ...Array.from({ length: 16 }, () => steps("retrying", ["0-retry", "1-once", "2-ask"], 20)),
        ...parents,
      ])
    }
    await fleet.settle(pair)
    for (const child of pair) expect(fleet.acts(child).length).toBeGreaterThan(0)
    const histories = await readHistories(fleet.store)
    expect(histories).toHaveLength(48)
    expect(new Set(histories.map(({ task }) => task.status))).toEqual(new Set(["completed"]))
    expect(histories.flatMap(({ events }) => events.filter(({ body }) => body.type === "task.started"))).toHaveLength(
      48,
    )
  },
)

test.each([
  ["first schema", "newest schema"],
  ["newest schema", "first schema"],
  ["previous schema", "newest schema"],
  ["newest schema", "previous schema"],
] as const)("what a killed worker of the %s ran is taken over by one of the %s", async (mortal, heir) => {
  const fleet = await createFleet()
  // The second worker has no slot for anything else until these tasks are stopped.
  const second = await fleet.start(heir)
  startAll(
    second,
    Array.from({ length: SLOTS }, () => ({ tool: "endless", input: {} })),
  )
  const isFull = async () =>
    (await fleet.store.tasks({ statuses: ["running"] }, { limit: SLOTS })).items.length === SLOTS
  await eventually("it has no room", isFull)
  const first = await fleet.start(mortal)
  startAll(first, [
    steps("retrying", ["0-retry", "1-retry"], 1_000),
    steps("asking", ["0-ask"], 1_000),
    steps("careful", ["0-once"], 60_000),
  ])
  await eventually("every task is inside a step", () => fleet.acts(first).length >= 3)
  await first.kill()
  await fleet.settle([second])
  const repeated = fleet.acts(second).filter((line) => line.startsWith("did "))
  expect(repeated.map((line) => line.split(/[/ ]/)[3] ?? "").toSorted()).toEqual(["0-ask", "0-retry", "1-retry"])
  const ended = (await readHistories(fleet.store)).map(({ task }) => `${task.tool} ${task.status}`)
  expect(ended.filter((line) => !line.startsWith("endless")).toSorted()).toEqual([
    "asking completed",
    "careful interrupted",
    "retrying completed",
  ])
})
