import { hostname } from "node:os"
import type { Engine } from "../../task/engine.ts"

interface WorkerOfEngine {
  readonly engine: Engine
}

/** The machine that people have to know where there may be several. */
export function thisHost({ engine }: WorkerOfEngine): string | undefined {
  return engine.name === "embedded" ? undefined : hostname()
}

/** Of this process, to people: where it is one of many, Meanwhile itself goes on. */
export function describeShutdown(scope: WorkerOfEngine): string {
  const host = thisHost(scope)
  return host === undefined ? "Meanwhile was shut down" : `the worker on ${host}, pid ${process.pid}, was shut down`
}
