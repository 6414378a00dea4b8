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

/** From opening the store until no run belongs to the worker that was killed. */
async function measureReclaim(): Promise<number> {
  using folder = createFolder("recovery")
  const worker = (await leaveBehind(folder.path, { atOnce: UNFINISHED_TASKS })) as WorkerId
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

/** What the queue adds to the memory of a process that has opened the store and does nothing. */
async function measureQueueMemory(report: Report): Promise<number> {
  using full = createFolder("queued")
  using empty = createFolder("empty")
  await leaveBehind(full.path, { atOnce: 1 })
  const added: number[] = []
  for (let round = 1; round <= MEMORY_ROUNDS; round++) {
    report.progressed(`memory, round ${round} of ${MEMORY_ROUNDS}`)
    // Every process on that store begins one task, which is lost with it.
    added.push((await readMemory(full.path, UNFINISHED_TASKS - MEMORY_ROUNDS - 1)) - (await readMemory(empty.path, 0)))
  }
  return median(added)
}

/** In megabytes. */
async function readMemory(folder: string, leastQueued: number): Promise<number> {
  const child = run("memory", [folder])
  const { bytes, queued } = JSON.parse(await readLine(child)) as { readonly bytes: number; readonly queued: number }
  await stop(child)
  if (queued < leastQueued) throw new Error(`only ${queued} tasks are queued`)
  return bytes / 1_000_000
}

/** Lets a process begin or queue the tasks, kills it, and returns the worker it was. */
async function leaveBehind(folder: string, { atOnce }: { readonly atOnce: number }): Promise<string> {
  const child = run("begin-tasks", [folder, String(UNFINISHED_TASKS), String(atOnce)])
  const worker = await readLine(child)
  await stop(child)
  return worker
}

function run(script: string, args: readonly string[]): ChildProcess {
  const path = fileURLToPath(new URL(join("processes", `${script}.ts`), import.meta.url))
  return spawn(process.execPath, ["--expose-gc", path, ...args], { stdio: ["ignore", "pipe", "inherit"] })
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
