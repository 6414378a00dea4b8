import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { WorkerId } from "../src/task/id.ts"
import type { Benchmark, Report } from "./benchmark.ts"
import { createFolder } from "./folder.ts"
import { openRuntime } from "./runtime.ts"
import { median } from "./statistics.ts"
import { createHeldTool } from "./tools.ts"

const UNFINISHED_TASKS = 10_000
const RECLAIM_ROUNDS = 3
const MEMORY_ROUNDS = 3
const POLL_MS = 5
const GIVE_UP_MS = 60_000

export const recovery: Benchmark = {
  name: "recovery",
  summary: "taking over ten thousand tasks of a process that was killed, and keeping as many in the queue",
  async run(report) {
    const times: number[] = []
    for (let round = 1; round <= RECLAIM_ROUNDS; round++) {
      report.progressed(`taking over, round ${round} of ${RECLAIM_ROUNDS}`)
      times.push(await measureReclaim())
    }
    report.measured({ metric: "reclaim_ms", unit: "ms", ours: median(times), bar: { of: "ours", atMost: 2_000 } })
    report.measured({
      metric: "queued_mb",
      unit: "MB",
      ours: await measureQueueMemory(report),
      bar: { of: "ours", atMost: 80 },
    })
  },
}

/** The time from opening the store until no run belongs to the killed worker. */
async function measureReclaim(): Promise<number> {
  using folder = createFolder("recovery")
  const left = await leaveBehind(folder.path, { count: UNFINISHED_TASKS, atOnce: UNFINISHED_TASKS })
  const worker = left.worker as WorkerId
  const startedAt = performance.now()
  await using runtime = await openRuntime({ folder: folder.path, tools: [createHeldTool().tool] })
  while ((await runtime.engine.store.countTasks({ worker })) > 0) {
    if (performance.now() - startedAt > GIVE_UP_MS)
      throw new Error("the tasks of the killed process were not taken over")
    await sleep(POLL_MS)
  }
  const reclaimMs = performance.now() - startedAt
  const interrupted = await runtime.engine.store.countTasks({ statuses: ["interrupted"] })
  if (interrupted !== UNFINISHED_TASKS) throw new Error(`only ${interrupted} tasks were taken over`)
  return reclaimMs
}

/** The memory that a process needs at most to queue the tasks, beyond one that opens the store and queues none. */
async function measureQueueMemory(report: Report): Promise<number> {
  const added: number[] = []
  for (let round = 1; round <= MEMORY_ROUNDS; round++) {
    report.progressed(`memory, round ${round} of ${MEMORY_ROUNDS}`)
    using full = createFolder("queued")
    using empty = createFolder("empty")
    const { peakBytes, queued } = await leaveBehind(full.path, { count: UNFINISHED_TASKS, atOnce: 1 })
    if (queued < UNFINISHED_TASKS - 1) throw new Error(`only ${queued} tasks are queued`)
    const { peakBytes: withoutTasks } = await leaveBehind(empty.path, { count: 0, atOnce: 1 })
    added.push((peakBytes - withoutTasks) / 1_000_000)
  }
  return median(added)
}

interface LeftBehind {
  readonly worker: string
  readonly queued: number
  readonly peakBytes: number
}

/** Lets a process begin or queue the tasks, kills the process, and returns what it printed about itself. */
async function leaveBehind(
  folder: string,
  { count, atOnce }: { readonly count: number; readonly atOnce: number },
): Promise<LeftBehind> {
  const child = run("begin-tasks", [folder, String(count), String(atOnce)])
  const answer = await readLine(child)
  await stop(child)
  return JSON.parse(answer) as LeftBehind
}

function run(script: string, args: readonly string[]): ChildProcess {
  const path = fileURLToPath(new URL(join("processes", `${script}.ts`), import.meta.url))
  return spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] })
}

async function readLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("the process has no standard output")
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error(`the process ended without an answer: ${child.spawnargs.join(" ")}`)
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}
