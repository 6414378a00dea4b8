import { parseArgs } from "node:util"
import { type Metric, toMetric } from "./benchmark.ts"
import { BENCHMARKS } from "./benchmarks.ts"
import { toTable } from "./table.ts"

const ALL = "all"
const names = [...BENCHMARKS.map((benchmark) => benchmark.name), ALL]

/** Of the longest name, and some space. */
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
  const metrics: Metric[] = []
  for (const benchmark of request.benchmarks) {
    await benchmark.run({
      measured(measurement) {
        const metric = toMetric(benchmark.name, measurement)
        metrics.push(metric)
        if (request.isJson) process.stdout.write(`${JSON.stringify(metric)}\n`)
      },
      progressed(text) {
        if (process.stderr.isTTY) process.stderr.write(`${benchmark.name}: ${text}\n`)
      },
    })
  }
  if (!request.isJson) process.stdout.write(toTable(metrics))
  return 0
}

/** What was asked for, or what is wrong with it. */
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
