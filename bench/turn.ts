import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { Benchmark, Report } from "./benchmark.ts"
import { installPackage } from "./built-package.ts"
import { createFolder } from "./folder.ts"
import { compare, median } from "./statistics.ts"
import { type SideName, TURNS } from "./turn-side.ts"

const ROUNDS = 7
/** Rounds in which both sides warm up: a process that serves people lives for days. */
const WARM_UPS = 3
const MEMORY_ROUNDS = 5

/** One conversation at a time, and 20 at once as in a process that serves several people. Both have the same bars. */
const SHAPES = [
  { suffix: "", atOnce: 1 },
  { suffix: "_at_once", atOnce: 20 },
] as const
type Shape = (typeof SHAPES)[number]

const COMPARISONS = [
  { metric: "memory_turn", ours: "memory", reference: "generateText", atMost: 1 },
  { metric: "durable_turn", ours: "normal", reference: "streamText", atMost: 0.6 },
  { metric: "durable_full_turn", ours: "full", reference: "streamText", atMost: 1.2 },
] as const satisfies readonly Comparison[]

interface Comparison {
  readonly metric: string
  readonly ours: SideName
  readonly reference: SideName
  readonly atMost: number
}

export const turn: Benchmark = {
  name: "turn",
  summary:
    "2,000 turns of one tool call and then text, one conversation or 20 at once, beside the AI SDK with the same model",
  async run(report) {
    using folder = createFolder("turn")
    report.progressed("building the package")
    const { library } = installPackage(folder.path)
    for (const shape of SHAPES) {
      for (const comparison of COMPARISONS) await measureTime(report, library, comparison, shape)
      await measureCommits(report, library, shape)
      await measurePeak(report, library, shape)
    }
  },
}

interface Taken {
  readonly ms: number
  readonly commits: number
  readonly waitingCommits: number
  readonly peakBytes: number
}

/** Each side has a process of its own, which lives through all rounds: neither warms up or litters for the other. */
async function measureTime(
  report: Report,
  library: string,
  { metric, ours, reference, atMost }: Comparison,
  { suffix, atOnce }: Shape,
): Promise<void> {
  report.progressed(`${metric}${suffix}`)
  await using own = openSide(ours, library, atOnce)
  await using other = openSide(reference, library, atOnce)
  const toMicroseconds = ({ ms }: Taken) => (ms * 1_000) / TURNS
  const compared = await compare(
    ROUNDS,
    () => own.take().then(toMicroseconds),
    () => other.take().then(toMicroseconds),
    WARM_UPS,
  )
  report.measured({
    metric: `${metric}${suffix}`,
    unit: "µs",
    ours: compared.ours,
    reference: { name: reference, value: compared.reference, ratio: compared.ratio },
    bar: { of: "ratio", atMost },
  })
}

async function measureCommits(report: Report, library: string, { suffix, atOnce }: Shape): Promise<void> {
  const { commits, waitingCommits } = await takeOnce("full", library, atOnce)
  report.measured({
    metric: `commits_per_turn${suffix}`,
    unit: "commits",
    ours: commits / TURNS,
    bar: { of: "ours", atMost: 4 },
  })
  // The commits of a turn's beginning and of its tools' answers do not wait for the disk. Those of the model's words do.
  report.measured({
    metric: `commits_per_turn_that_wait_for_the_disk${suffix}`,
    unit: "commits",
    ours: waitingCommits / TURNS,
    bar: { of: "ours", atMost: 2 },
  })
}

/** The most that a new process held while it took the turns once. */
async function measurePeak(report: Report, library: string, { suffix, atOnce }: Shape): Promise<void> {
  const measure = async (side: SideName): Promise<number> => {
    const { peakBytes } = await takeOnce(side, library, atOnce)
    return peakBytes / 1_000_000
  }
  const ours: number[] = []
  const reference: number[] = []
  for (let round = 1; round <= MEMORY_ROUNDS; round++) {
    report.progressed(`peak_mb${suffix}, round ${round} of ${MEMORY_ROUNDS}`)
    ours.push(await measure("memory"))
    reference.push(await measure("generateText"))
  }
  report.measured({
    metric: `peak_mb${suffix}`,
    unit: "MB",
    ours: median(ours),
    reference: { name: "generateText", value: median(reference) },
    bar: { of: "ratio", atMost: 1 },
  })
}

async function takeOnce(side: SideName, library: string, atOnce: number): Promise<Taken> {
  await using opened = openSide(side, library, atOnce)
  return await opened.take()
}

function openSide(side: SideName, library: string, atOnce: number): AsyncDisposable & { take(): Promise<Taken> } {
  const script = fileURLToPath(new URL("processes/turns.ts", import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [script, side, library, String(atOnce)], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const ended = once(child, "exit")
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error("the process has no standard input or output")
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return {
    async take() {
      stdin.write("take\n")
      const { value, done } = await lines.next()
      if (done) throw new Error(`the process that takes turns with ${side} ended without an answer`)
      return JSON.parse(value) as Taken
    },
    async [Symbol.asyncDispose]() {
      stdin.end()
      await ended
    },
  }
}
