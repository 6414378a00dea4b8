import type { Clock } from "../../../src/base/clock.ts"
import { MeanwhileError } from "../../../src/base/error.ts"
import { toStoreError as toEmbeddedError } from "../../../src/engine/embedded/sqlite/sqlite-error.ts"
import { toStoreError as toServerError } from "../../../src/engine/postgres/connection/store-error.ts"
import type { Engine } from "../../../src/task/engine.ts"
import type { Operation } from "../../../src/task/operation.ts"
import { IN_DOUBT } from "../../../src/task/store-refusal.ts"
import type { CommitOptions } from "../../../src/task/store.ts"

/**
 * One fault of a store. The commit of that name is `refused`, or performed and its answer `lost`. For `forMs` after it, by
 * the clock, every other commit is refused.
 */
export interface Fault {
  readonly at: string
  readonly how: "refused" | "lost"
  readonly forMs: number
}

export const describeFault = ({ at, how, forMs }: Fault): string =>
  `${at} is ${how}${forMs > 0 ? `, then all are refused for ${forMs / 1_000} s` : ""}`

export interface FaultyEngine extends Engine {
  /** The names of the commits so far, in order. Names of leases are left out: the clock decides when they are renewed. */
  readonly commits: readonly string[]
  /** True while commits are refused. */
  isRefusing(): boolean
  /** How many commits the store has performed. What is read from it is the same as long as this is. */
  written(): number
}

/**
 * The engine with one fault, as the runtime above it meets a disk that is full or a server that goes away. Its store stays
 * open when that runtime is closed.
 */
export function createFaultyEngine(engine: Engine, clock: Clock, fault?: Fault): FaultyEngine {
  const commits: string[] = []
  const counts = new Map<string, number>()
  let refusesUntil = 0
  let hasFailed = false
  let written = 0
  const isRefusing = (): boolean => clock.monotonic() < refusesUntil

  async function commit(operations: readonly Operation[], options?: CommitOptions): Promise<readonly unknown[]> {
    const name = nameCommit(operations, counts)
    if (name !== null) commits.push(name)
    if (!hasFailed && name === fault?.at) {
      hasFailed = true
      refusesUntil = clock.monotonic() + fault.forMs
      if (fault.how === "lost") await perform(operations, options)
      throw fault.how === "lost" ? toLostAnswer(engine) : toRefusal(engine)
    }
    if (isRefusing()) throw toRefusal(engine)
    return perform(operations, options)
  }

  async function perform(operations: readonly Operation[], options?: CommitOptions): Promise<readonly unknown[]> {
    try {
      return await engine.store.commit(operations, options)
    } finally {
      written++
    }
  }

  const store = new Proxy(engine.store, {
    get: (target, key) => (key === "commit" ? commit : Reflect.get(target, key)) as unknown,
  })
  const stay = async (): Promise<void> => {}
  return { ...engine, store, commits, isRefusing, written: () => written, close: stay, [Symbol.asyncDispose]: stay }
}

/** The operations of the commit, and how many commits of the same operations came before. Null for leases alone. */
function nameCommit(operations: readonly Operation[], counts: Map<string, number>): string | null {
  if (operations.every(({ op }) => op.startsWith("lease."))) return null
  const what = operations.map(nameOperation).join("+")
  const count = (counts.get(what) ?? 0) + 1
  counts.set(what, count)
  return `${what}#${count}`
}

function nameOperation(operation: Operation): string {
  if (operation.op === "task.apply") return operation.event.type
  if (operation.op === "task.create") return `create.${operation.details.tool}`
  if (operation.op === "document.put") return `put.${operation.collection.replace(/[0-9a-f-]{36}/, "")}`
  return operation.op
}

const FULL_DISK = { embedded: { errcode: 13 }, postgres: { code: "53100" } } as const
const STORE_NAME = { server: "faulty:5432/test", role: "test", toOwnerCommand: () => "" }

/** The error of the real engine when its disk is full: nothing was stored. */
function toRefusal({ name }: Engine): unknown {
  const isServer = name === "postgres"
  const raw = Object.assign(new Error("the disk is full"), FULL_DISK[isServer ? "postgres" : "embedded"])
  return isServer ? toServerError(raw, STORE_NAME) : toEmbeddedError(raw, "faulty.sqlite")
}

/** The error of an engine that cannot find out what became of a commit. */
function toLostAnswer({ name }: Engine): MeanwhileError {
  return new MeanwhileError("store_unavailable", `The answer of ${name} was lost.`, IN_DOUBT)
}
