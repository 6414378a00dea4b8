import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { type Benchmark, type Metric, toMetric } from "./benchmark.ts"
import { BENCHMARKS } from "./benchmarks.ts"
import { toTable } from "./table.ts"

const ALL = "all"
const names = [...BENCHMARKS.map((benchmark) => benchmark.name), ALL]

/** The longest name, and some space. */
const NAME_WIDTH = Math.max(...names.map((name) => name.length)) + 2

const HELP = `Usage: npm run -s bench -- NAME... [--json]

${BENCHMARKS.map((benchmark) => `  ${benchmark.name.padEnd(NAME_WIDTH)}${benchmark.summary}`).join("\n")}
  ${ALL.padEnd(NAME_WIDTH)}every one of them

--json prints one JSON line per metric on standard output, and nothing else. Whether each bar holds is part of the
answer; the exit code tells only whether everything could be measured.
`

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
process.exitCode = await main(process.argv.slice(2))

async function main(argv: readonly string[]): Promise<number> {
  const request = parse(argv)
  if (typeof request === "string") {
    process.stderr.write(`${request}\n\n${HELP}`)
    return 2
  }
  if (request.isHelp) {
    process.stdout.write(HELP)
    return 0
  }
  const [only, ...others] = request.benchmarks
  const run = only && others.length === 0 ? measure : measureApart
  const metrics: Metric[] = []
  for (const benchmark of request.benchmarks) {
    const isMeasured = await run(benchmark, (metric) => {
      metrics.push(metric)
      if (request.isJson) process.stdout.write(`${JSON.stringify(metric)}\n`)
    })
    if (!isMeasured) return 1
  }
  if (!request.isJson) process.stdout.write(toTable(metrics))
  return 0
}

type Measured = (metric: Metric) => void

async function measure(benchmark: Benchmark, measured: Measured): Promise<boolean> {
  await benchmark.run({
    measured: (measurement) => measured(toMetric(benchmark.name, measurement)),
    progressed(text) {
      if (process.stderr.isTTY) process.stderr.write(`${benchmark.name}: ${text}\n`)
    },
  })
  return true
}

/**
 * Runs a benchmark in a process of its own, because what one benchmark leaves in memory would slow the next one down: a plain
 * spawn took 23 ms after the history of a million tasks, and 3 ms alone. Returns false if something could not be measured.
 */
async function measureApart({ name }: Benchmark, measured: Measured): Promise<boolean> {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), name, "--json"]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  const kill = () => child.kill()
  process.on("exit", kill)
  const ended = once(child, "close")
  for await (const line of createInterface({ input: child.stdout })) measured(JSON.parse(line) as Metric)
  await ended
  process.off("exit", kill)
  return child.exitCode === 0
}

/** What the arguments ask for, or a sentence that says what is wrong with them. */
function parse(argv: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { json: { type: "boolean", default: false }, help: { type: "boolean", short: "h", default: false } },
    })
    const unknown = positionals.filter((name) => !names.includes(name))
    if (unknown.length > 0) return `No benchmark is named ${unknown.join(", ")}. There are: ${names.join(", ")}.`
    if (positionals.length === 0 && !values.help) return `Name a benchmark: ${names.join(", ")}.`
    const benchmarks = BENCHMARKS.filter(({ name }) => positionals.includes(name) || positionals.includes(ALL))
    return { benchmarks, isJson: values.json, isHelp: values.help }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
