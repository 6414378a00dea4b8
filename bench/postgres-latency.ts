import { setTimeout as sleep } from "node:timers/promises"
import type { TestServer } from "../test/support/postgres/server.ts"
import type { Report } from "./benchmark.ts"
import { openPgBoss, QUEUE } from "./reference/pg-boss.ts"
import { openPostgresRuntime } from "./runtime.ts"
import { median } from "./statistics.ts"
import { createHeldTool } from "./tools.ts"
import { nowMs, startWorkerProcess } from "./worker-process.ts"

const SAMPLES = 100
const WARM_UP = 10
/** How long a task runs before it is cancelled: nobody cancels a task at the moment it begins. */
const RUNNING_MS = 80

/** With an idle worker in another process: from the start to the tool's first line, and from the cancel to its signal's abort. */
export async function measureLatency(server: TestServer, report: Report): Promise<void> {
  await using ourDatabase = await server.createDatabase()
  await using bossDatabase = await server.createDatabase()
  const { tool } = createHeldTool()
  const writing = { ...tool, name: "writing" }
  await using runtime = await openPostgresRuntime({ url: ourDatabase.url, tools: [tool, writing], atOnce: 0 })
  await using worker = await startWorkerProcess("postgres-worker", [ourDatabase.url, "10"])
  const boss = await openPgBoss(bossDatabase.url)
  await using bossWorker = await startWorkerProcess("pg-boss-worker", [bossDatabase.url])
  const starts: number[] = []
  const cancels: number[] = []
  const bossStarts: number[] = []
  const writingCancels: number[] = []
  const runUntilCancelled = async (name: string) => {
    const askedAt = nowMs()
    const { id } = await runtime.tasks.start({ tool: name, input: {} })
    const startMs = (await worker.nextMoment()) - askedAt
    await sleep(RUNNING_MS)
    const cancelledAt = nowMs()
    await runtime.tasks.cancel(id)
    const cancelMs = (await worker.nextMoment()) - cancelledAt
    await runtime.tasks.result(id, { waitMs: 10_000 })
    await sleep(RUNNING_MS)
    return { startMs, cancelMs }
  }
  for (let index = 0; index < WARM_UP + SAMPLES; index++) {
    const { startMs, cancelMs } = await runUntilCancelled(tool.name)
    const whileWriting = await runUntilCancelled(writing.name)
    const sentAt = nowMs()
    await boss.send(QUEUE, {})
    const bossStartMs = (await bossWorker.nextMoment()) - sentAt
    if (index % 25 === 0) report.progressed(`start and cancel, sample ${index} of ${WARM_UP + SAMPLES}`)
    if (index < WARM_UP) continue
    starts.push(startMs)
    cancels.push(cancelMs)
    writingCancels.push(whileWriting.cancelMs)
    bossStarts.push(bossStartMs)
  }
  await boss.stop({ graceful: false })
  report.measured({
    metric: "start_ms_p50",
    unit: "ms",
    ours: median(starts),
    reference: { name: "work() of bare pg-boss, woken by NOTIFY", value: median(bossStarts) },
    bar: { of: "ratio", atMost: 3 },
  })
  const bar = { of: "ours", atMost: 20 } as const
  report.measured({ metric: "cancel_ms_p50", unit: "ms", ours: median(cancels), bar })
  report.measured({ metric: "cancel_while_writing_ms_p50", unit: "ms", ours: median(writingCancels), bar })
}
