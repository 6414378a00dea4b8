import { setTimeout as sleep } from "node:timers/promises"
import { isTerminal } from "../src/task/lifecycle.ts"
import type { TaskId } from "../src/task/id.ts"
import type { Benchmark } from "./benchmark.ts"
import { createFolder } from "./folder.ts"
import { openDurableCommit } from "./reference/durable-commit.ts"
import type { Runtime } from "../src/app.ts"
import { openRuntime } from "./runtime.ts"
import { median, timed } from "./statistics.ts"
import { createHeldTool, type HeldTool } from "./tools.ts"

const SAMPLES = 300
const WARM_UP = 30
/** Between samples nothing happens, so that no sample shares a commit with another. */
const IDLE_MS = 3

export const latency: Benchmark = {
  name: "latency",
  summary: "how long an idle runner takes to start, to tell of an end and to stop",
  async run(report) {
    using folder = createFolder("latency")
    const held = createHeldTool()
    await using runtime = await openRuntime({ folder: folder.path, tools: [held.tool] })
    using durable = openDurableCommit(folder.path)
    const samples: Sample[] = []
    for (let index = 0; index < WARM_UP + SAMPLES; index++) {
      const commitMs = await timed(() => durable.run())
      await sleep(IDLE_MS)
      const { startMs, endMs } = await measureStartAndEnd(runtime, held)
      const cancelMs = await measureCancel(runtime, held)
      if (index >= WARM_UP) samples.push({ commitMs, startMs, endMs, cancelMs })
      if (index % 50 === 0) report.progressed(`sample ${index} of ${WARM_UP + SAMPLES}`)
    }
    const toMedian = (part: keyof Sample) => median(samples.map((sample) => sample[part]))
    const reference = { name: "one durable commit by bare node:sqlite", value: toMedian("commitMs") }
    const within = (metric: string, ours: number) =>
      report.measured({ metric, unit: "ms", ours, reference, bar: { of: "ratio", atMost: 3 } })
    within("start_to_running_ms_p50", toMedian("startMs"))
    within("end_to_subscriber_ms_p50", toMedian("endMs"))
    report.measured({
      metric: "cancel_ms_p50",
      unit: "ms",
      ours: toMedian("cancelMs"),
      reference,
      bar: { of: "difference", atMost: 2 },
    })
  },
}

interface Sample {
  readonly commitMs: number
  readonly startMs: number
  readonly endMs: number
  readonly cancelMs: number
}

async function begin({ tasks }: Runtime, held: HeldTool) {
  await sleep(IDLE_MS)
  const call = held.nextCall()
  const startedAt = performance.now()
  const task = tasks.start({ tool: held.tool.name, input: {} })
  const { beganAt, signal, release } = await call
  const { id } = await task
  await sleep(IDLE_MS)
  return { id, signal, release, startMs: beganAt - startedAt }
}

/** The times from a start to the tool's first line, and from the tool's last line until a subscriber has read the end. */
async function measureStartAndEnd(runtime: Runtime, held: HeldTool): Promise<{ startMs: number; endMs: number }> {
  const { id, release, startMs } = await begin(runtime, held)
  const told = subscribeToEnd(runtime, id)
  const releasedAt = performance.now()
  release()
  const toldAt = await told
  return { startMs, endMs: toldAt - releasedAt }
}

/** When a subscriber that re-reads the store at every wake-up has seen a terminal status. */
function subscribeToEnd({ engine }: Runtime, id: TaskId): Promise<number> {
  return new Promise((resolve, reject) => {
    const unsubscribe = engine.bus.subscribeTask(id, () => {
      engine.store.task(id).then((task) => {
        if (!task || !isTerminal(task.status)) return
        unsubscribe()
        resolve(performance.now())
      }, reject)
    })
  })
}

/** The time from a cancel to the abort of the tool's signal. */
async function measureCancel(runtime: Runtime, held: HeldTool): Promise<number> {
  const { id, signal } = await begin(runtime, held)
  const stopped = new Promise<number>((resolve) => {
    signal.addEventListener("abort", () => resolve(performance.now()))
  })
  const askedAt = performance.now()
  const accepted = runtime.tasks.cancel(id)
  const cancelMs = (await stopped) - askedAt
  await accepted
  await runtime.tasks.result(id, { waitMs: 10_000 })
  return cancelMs
}
