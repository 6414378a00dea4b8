import { hostname } from "node:os"
import type { JsonObject } from "../../base/json.ts"
import { isProcessAlive, readBootId, thisProcessIdentity, toProcessIdentity } from "../process/identity.ts"
import type { Engine } from "../../task/engine.ts"

/** Facts by which other processes tell whether this one lives, and people find it. */
export function toWorkerIdentity(): JsonObject {
  return { ...thisProcessIdentity(), host: hostname() }
}

/**
 * Part of the identity of a worker that takes all work. Until it has announced what it can run, nobody may say that no
 * worker can run a task.
 */
export const TAKER: JsonObject = { takes: "all" }

export function isTaker(data: JsonObject): boolean {
  return data["takes"] === TAKER["takes"]
}

/** Part of the identity of a worker that ends by itself. */
export const ENDS_WHEN_IDLE: JsonObject = { endsWhenIdle: true }

export function isEndingWhenIdle(data: JsonObject): boolean {
  return data["endsWhenIdle"] === true
}

/** True if the process that a lease describes lives; undefined when that cannot be told from here. */
export function isWorkerAlive(data: JsonObject): boolean | undefined {
  const identity = toProcessIdentity(data)
  return identity && isProcessAlive(identity)
}

/** Like `isWorkerAlive`, for a store that several machines use. Undefined for a worker of another machine. */
export function isNeighbourAlive(data: JsonObject): boolean | undefined {
  return data["bootId"] === readBootId() ? isWorkerAlive(data) : undefined
}

type WorkerOfEngine = { readonly engine: Engine }

/** The name of this machine, which people must be told where there may be several. */
export function thisHost({ engine }: WorkerOfEngine): string | undefined {
  return engine.name === "embedded" ? undefined : hostname()
}

/** The shutdown of this process in words. Where it is one of many workers, Meanwhile itself goes on. */
export function describeShutdown(scope: WorkerOfEngine): string {
  const host = thisHost(scope)
  return host === undefined ? "Meanwhile was shut down" : `the worker on ${host}, pid ${process.pid}, was shut down`
}
