import { hostname } from "node:os"
import type { JsonObject } from "../../base/json.ts"
import { isProcessAlive, readBootId, thisProcessIdentity, toProcessIdentity } from "../process/identity.ts"
import type { Engine } from "../../task/engine.ts"

/** Facts by which other processes tell whether this one lives, and people find it. */
export function toWorkerIdentity(): JsonObject {
  return { ...thisProcessIdentity(), host: hostname() }
}

/**
 * Part of the identity of one that takes all work: until it has announced which, nobody may count on what it cannot
 * run.
 */
export const TAKER: JsonObject = { takes: "all" }

export function isTaker(data: JsonObject): boolean {
  return data["takes"] === TAKER["takes"]
}

/** True if the process that a lease describes lives; undefined when that cannot be told from here. */
export function isWorkerAlive(data: JsonObject): boolean | undefined {
  const identity = toProcessIdentity(data)
  return identity && isProcessAlive(identity)
}

/** Like `isWorkerAlive`, where workers of other machines use the store too: about those nothing can be told. */
export function isNeighbourAlive(data: JsonObject): boolean | undefined {
  return data["bootId"] === readBootId() ? isWorkerAlive(data) : undefined
}

type WorkerOfEngine = { readonly engine: Engine }

/** The machine that people have to know where there may be several. */
export function thisHost({ engine }: WorkerOfEngine): string | undefined {
  return engine.name === "embedded" ? undefined : hostname()
}

/** The shutdown of this process in words. Where it is one of many workers, Meanwhile itself goes on. */
export function describeShutdown(scope: WorkerOfEngine): string {
  const host = thisHost(scope)
  return host === undefined ? "Meanwhile was shut down" : `the worker on ${host}, pid ${process.pid}, was shut down`
}
