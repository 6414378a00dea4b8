import { hostname } from "node:os"
import type { RunnerScope } from "../run/scope.ts"

/** The machine that people have to know where there may be several. */
export function thisHost({ engine }: Pick<RunnerScope, "engine">): string | undefined {
  return engine.name === "embedded" ? undefined : hostname()
}

/** Of this process, to people: where it is one of many, Meanwhile itself goes on. */
export function describeShutdown(scope: Pick<RunnerScope, "engine">): string {
  const host = thisHost(scope)
  return host === undefined ? "Meanwhile was shut down" : `the worker on ${host}, pid ${process.pid}, was shut down`
}
