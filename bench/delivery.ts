import type { Benchmark, Report } from "./benchmark.ts"
import { measureOneEnd, measureThousandEnds } from "./delivery-ends.ts"
import { countRealWaiting, countVirtualWaiting } from "./delivery-waiting.ts"
import { createFolder } from "./folder.ts"
import { median, percentile } from "./statistics.ts"

const ROUNDS = 7

export const delivery: Benchmark = {
  name: "delivery",
  summary:
    "from the end of a task to the model call that tells it, alone and a thousand at once, and what waiting costs",
  async run(report) {
    await measureOne(report)
    await measureThousand(report)
    await measureWaiting(report)
  },
}

async function measureOne(report: Report): Promise<void> {
  using folder = createFolder("delivery")
  const samples = await measureOneEnd(folder.path, report)
  const ours = samples.map(({ toReportMs }) => toReportMs)
  const reference = samples.map(({ commitsMs }) => commitsMs)
  // The end is durable before anybody hears of it, and the turn that tells it is durable before the model is asked.
  const name = "two durable commits by bare node:sqlite"
  report.measured({
    metric: "end_to_report_ms_p99",
    unit: "ms",
    ours: percentile(ours, 0.99),
    reference: { name, value: percentile(reference, 0.99) },
    bar: { of: "ours", atMost: 10 },
  })
  report.measured({
    metric: "end_to_report_ms_p50",
    unit: "ms",
    ours: median(ours),
    reference: { name, value: median(reference) },
  })
}

async function measureThousand(report: Report): Promise<void> {
  const rounds: Awaited<ReturnType<typeof measureThousandEnds>>[] = []
  // The first warms up and does not count.
  for (let round = 0; round <= ROUNDS; round++) {
    report.progressed(`a thousand ends, round ${round} of ${ROUNDS}`)
    using folder = createFolder("delivery")
    const measured = await measureThousandEnds(folder.path)
    if (round > 0) rounds.push(measured)
  }
  report.measured({
    metric: "thousand_ends_turns",
    unit: "turns",
    ours: Math.max(...rounds.map(({ turns }) => turns)),
    bar: { of: "ours", atMost: 1 },
  })
  report.measured({
    metric: "thousand_ends_ms",
    unit: "ms",
    ours: median(rounds.map(({ toReportMs }) => toReportMs)),
    reference: {
      name: "a thousand rows in one durable commit by bare node:sqlite",
      value: median(rounds.map(({ commitMs }) => commitMs)),
    },
    bar: { of: "ours", atMost: 300 },
  })
}

async function measureWaiting(report: Report): Promise<void> {
  report.progressed("fifty tasks for half an hour by a clock of our own")
  using virtual = createFolder("delivery")
  const virtualCalls = await countVirtualWaiting(virtual.path)
  report.progressed("shell tasks for twenty seconds")
  using real = createFolder("delivery")
  const realCalls = await countRealWaiting(real.path)
  report.measured({
    metric: "model_calls_while_waiting",
    unit: "calls",
    ours: virtualCalls + realCalls,
    bar: { of: "ours", atMost: 0 },
  })
}
