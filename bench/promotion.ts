import type { Benchmark } from "./benchmark.ts"
import { createFolder } from "./folder.ts"
import { openRuntime } from "./runtime.ts"
import { compare, percentile } from "./statistics.ts"
import { noOp } from "./tools.ts"

const CALLS_PER_ROUND = 4_000
const ROUNDS = 9

export const promotion: Benchmark = {
  name: "promotion",
  summary: "what running in the foreground adds to a call that ends at once",
  async run(report) {
    using folder = createFolder("promotion")
    await using runtime = await openRuntime({ folder: folder.path, tools: [noOp] })
    const call = { tool: noOp.name, input: {} }
    const plain = async () => null
    const answer = await runtime.tasks.execute(call).answer
    if (answer.outcome !== "completed") throw new Error(`the call was answered ${answer.outcome}`)
    const comparison = await compare(
      ROUNDS,
      () => measure(() => runtime.tasks.execute(call).answer),
      () => measure(plain),
    )
    report.measured({
      metric: "added_microseconds_p50",
      unit: "µs",
      ours: comparison.ours - comparison.reference,
      reference: { name: "calling the function", value: comparison.reference },
      bar: { of: "ours", atMost: 30, wanted: 10 },
    })
  },
}

/** The median time of one call, in microseconds. */
async function measure(call: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < CALLS_PER_ROUND; index++) {
    const startedAt = performance.now()
    await call()
    times.push((performance.now() - startedAt) * 1_000)
  }
  return percentile(times, 0.5)
}
