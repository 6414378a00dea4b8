import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { openDatabase } from "../src/engine/embedded/open.ts"
import type { Benchmark } from "./benchmark.ts"
import { measureRate, runTask } from "./closed-loop.ts"
import { createFolder } from "./folder.ts"
import { createCommitGroup } from "./reference/commit-group.ts"
import { prepareChange, prepareInsert, readTaskRows, type TaskRows } from "./reference/task-rows.ts"
import type { Runtime } from "../src/app.ts"
import { openRuntime, storePathIn } from "./runtime.ts"
import { compare } from "./statistics.ts"
import { createHeldTool, type HeldTool, noOp } from "./tools.ts"

const IN_FLIGHT = 100
const TASKS_PER_ROUND = 5_000
const ROUNDS = 7

export const tasks: Benchmark = {
  name: "tasks",
  summary: "durable tasks per second that do nothing, 100 in flight",
  async run(report) {
    using folder = createFolder("tasks")
    const held = createHeldTool()
    const room = { maxConcurrentTasks: 2 * IN_FLIGHT, maxConcurrentPerPlugin: 2 * IN_FLIGHT }
    await using runtime = await openRuntime({ folder: folder.path, tools: [noOp, held.tool], background: room })
    const [running, ended] = await recordOneTask(runtime, storePathIn(folder.path), held)
    using reference = await openReference(join(folder.path, "reference"), running, ended)
    let round = 0
    const comparison = await compare(
      ROUNDS,
      () => {
        report.progressed(`round ${round++} of ${ROUNDS}`)
        return measureRate(TASKS_PER_ROUND, IN_FLIGHT, () => runTask(runtime))
      },
      () => measureRate(TASKS_PER_ROUND, IN_FLIGHT, () => reference.runTask()),
    )
    report.measured({
      metric: "tasks_per_second",
      unit: "tasks/s",
      ours: comparison.ours,
      reference: {
        name: "the same rows by bare node:sqlite with group commit",
        value: comparison.reference,
        ratio: comparison.ratio,
      },
      bar: { of: "ratio", atLeast: 0.4, wanted: 0.7 },
    })
  },
}

/** The rows of one task while it runs and after it ended, as the engine wrote them. */
async function recordOneTask({ tasks }: Runtime, storePath: string, held: HeldTool) {
  const call = held.nextCall()
  const { id } = await tasks.start({ tool: held.tool.name, input: {} })
  const { release } = await call
  using reader = openReader(storePath)
  const running = readTaskRows(reader.database, id)
  release()
  await tasks.result(id, { waitMs: 60_000 })
  return [running, readTaskRows(reader.database, id)] as const
}

function openReader(path: string): Disposable & { readonly database: DatabaseSync } {
  const database = new DatabaseSync(path, { readOnly: true })
  return { database, [Symbol.dispose]: () => database.close() }
}

interface Reference extends Disposable {
  runTask(): Promise<void>
}

/**
 * A task as it would be written by hand: one durable write before the work begins, one after it ended, with the
 * engine's own schema and settings, and without anything that checks, claims or tells anyone.
 */
async function openReference(folder: string, running: TaskRows, ended: TaskRows): Promise<Reference> {
  const database = await openDatabase({ path: storePathIn(folder), synchronous: "full" })
  const insert = prepareInsert(database, running)
  const change = prepareChange(database, running, ended)
  const inGroup = createCommitGroup(database)
  let number = 0
  return {
    async runTask() {
      const copy = { number: ++number, id: randomUUID() }
      await inGroup(() => insert(copy))
      await inGroup(() => change(copy))
    },
    [Symbol.dispose]: () => database.close(),
  }
}
