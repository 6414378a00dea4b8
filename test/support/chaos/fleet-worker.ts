import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { withPatience } from "../patience.ts"
import { type Child, startChild } from "./child.ts"
import { builtProgram } from "../built-program.ts"

const PROGRAM = builtProgram("cli/main")
const PLUGIN = builtProgram("fleet-plugin")

export interface FleetWorkerOptions {
  /** Its own: what it keeps outside the store is seen by no other. */
  readonly directory: string
  /** In its environment, so that whoever started it finds it again. */
  readonly marks: Readonly<Record<string, string>>
  readonly engine: string
  readonly effectsFile: string
  readonly concurrency: number
  readonly leaseSeconds?: number
}

/** One place of a fleet, in which one `meanwhile worker` follows another. */
export interface FleetWorker {
  /** Of the process that is there now. */
  readonly pid: number
  /** Processes that have stood still for a while. */
  readonly frozen: ReadonlySet<number>
  /** Resolves once it takes tasks. */
  start(): Promise<void>
  kill(): Promise<void>
  freeze(restMs: number): Promise<void>
  /** Stops it as one does; resolves once it has ended, with what was not as it should be. */
  stop(): Promise<readonly string[]>
  /** The last lines of all that were here. */
  lastWords(): string
}

const TAKES = "takes tool tasks"

export function createFleetWorker(options: FleetWorkerOptions): FleetWorker {
  const { directory, engine, effectsFile, concurrency, leaseSeconds, marks: environment } = options
  const most = concurrency * 100
  mkdirSync(directory, { recursive: true })
  const background = {
    maxConcurrentPerPlugin: most,
    maxConcurrentPerSession: most,
    ...(leaseSeconds !== undefined && { leaseSeconds }),
  }
  const config = {
    background,
    plugins: [{ source: PLUGIN, config: { effectsFile } }],
    permissions: { mode: "allow_all" },
  }
  writeFileSync(join(directory, "meanwhile.config.json"), JSON.stringify(config))
  const parameters = [
    "worker",
    "--trust",
    "--engine",
    engine,
    "--kinds",
    "tool",
    "--concurrency",
    String(concurrency),
    "--drain",
    "60",
  ]
  const children: Child[] = []
  const frozen = new Set<number>()
  const current = (): Child => {
    const child = children.at(-1)
    if (!child) throw new Error("Nobody was started here.")
    return child
  }
  const pidOf = ({ process }: Child): number => process.pid ?? 0

  return {
    get pid() {
      return pidOf(current())
    },
    frozen,
    async start() {
      const child = startChild({ program: PROGRAM, parameters, directory, environment })
      children.push(child)
      await child.said(TAKES)
    },
    kill: () => current().kill(),
    async freeze(restMs) {
      const child = current()
      frozen.add(pidOf(child))
      child.process.kill("SIGSTOP")
      await sleep(restMs)
      child.process.kill("SIGCONT")
    },
    async stop() {
      const child = current()
      child.process.kill("SIGTERM")
      await withPatience(child.exited, () => words(child))
      return child.lines.at(-1) === `Worker ${pidOf(child)} has stopped.`
        ? []
        : [`a worker ended otherwise: ${words(child)}`]
    },
    lastWords: () => children.map(words).join("\n"),
  }
}

function words({ process, lines }: Child): string {
  return `${process.pid} ${process.exitCode ?? process.signalCode ?? "lives"}: ${lines.slice(-4).join(" | ")}`
}
