import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { withPatience } from "../patience.ts"
import { type Child, startChild } from "./child.ts"
import { builtProgram } from "../built-program.ts"

const PROGRAM = builtProgram("cli/main")
const PLUGIN = builtProgram("fleet-plugin")

export interface FleetWorkerOptions {
  /** A data folder of its own: no other worker sees what this one keeps outside the store. */
  readonly directory: string
  /** Added to the environment, so that a test finds the process again. */
  readonly marks: Readonly<Record<string, string>>
  readonly engine: string
  readonly effectsFile: string
  readonly concurrency: number
  readonly leaseSeconds?: number
}

/** One place of a fleet, in which one `meanwhile worker` follows another. */
export interface FleetWorker {
  /** The pid of the current process. */
  readonly pid: number
  /** The pids of processes that were frozen for a while. */
  readonly frozen: ReadonlySet<number>
  /** Resolves once the worker takes tasks. */
  start(): Promise<void>
  kill(): Promise<void>
  freeze(restMs: number): Promise<void>
  /** SIGTERM. Resolves once the worker has ended, with the problems of its shutdown. */
  stop(): Promise<readonly string[]>
  /** The last lines of every process that had this place. */
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
