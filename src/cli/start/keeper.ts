import { spawn } from "node:child_process"
import { closeSync, constants, lstatSync, openSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import type { Duplex, Readable } from "node:stream"
import { toErrorMessage } from "../../base/error.ts"
import { ENGINE_VARIABLE } from "../../config/engine-url.ts"
import type { Desk } from "../../desk/desk.ts"
import type { GlobalOptions } from "./open-runtime.ts"

export type Keeper = Desk["keeper"]

/** The answers of a keeper to the program that has started it: it stays, or another keeper does. */
export const KEEPER_IS_THERE = "there\n"
export const OTHER_IS_THERE = "other\n"

const LOG_FILE = "keeper.log"
/** A log that is larger begins anew with the next keeper. */
const LONGEST_LOG_BYTES = 1 << 20
/** A keeper that has not answered by then may wait for its store or its servers. */
const PATIENCE_MS = 10_000

export interface StartedKeeper {
  readonly state: "there" | "slow" | "failed"
  /** Undefined: another keeper has the folder's work. */
  readonly pid: number | undefined
  /** The file that the keeper writes to. */
  readonly log: string
  readonly problem: string | null
}

/**
 * Starts `meanwhile worker --until-idle` as a process of its own, which outlives this one and its terminal, with the same
 * folder, options and environment. The runtime of this process must be closed: the keeper looks once for what it left.
 * A URL of the store goes by the environment, where other users do not see it.
 */
export async function startKeeper(
  { dataDir, trust, engine, concurrency }: GlobalOptions,
  dataDirectory: string,
  signal: AbortSignal,
): Promise<StartedKeeper> {
  const [program = ""] = process.argv.slice(1)
  const words = [
    ...(dataDir === undefined ? [] : ["--data-dir", dataDir]),
    ...(trust ? ["--trust"] : []),
    ...(concurrency === undefined ? [] : ["--concurrency", String(concurrency)]),
  ]
  const log = join(dataDirectory, LOG_FILE)
  try {
    const descriptor = openLog(log)
    const keeper = spawn(process.execPath, [...process.execArgv, program, ...words, "worker", "--keeper"], {
      detached: true,
      env: { ...process.env, ...(engine !== undefined && { [ENGINE_VARIABLE]: engine }) },
      stdio: ["ignore", descriptor, descriptor, "pipe"],
    })
    closeSync(descriptor)
    const failed = new Promise<unknown>((resolve) => keeper.once("error", resolve))
    keeper.unref()
    const answer = keeper.stdio[3] as Duplex | undefined
    const said = answer ? text(answer as Readable) : failed.then(() => "")
    const late = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
    const heard = await Promise.race([said, failed, whenOver(late)])
    answer?.destroy()
    const { pid } = keeper
    if (heard === "slow") return { state: "slow", pid, log, problem: null }
    if (heard === KEEPER_IS_THERE) return { state: "there", pid, log, problem: null }
    if (heard === OTHER_IS_THERE) return { state: "there", pid: undefined, log, problem: null }
    const problem = typeof heard === "string" ? `it has ended; see ${log}` : toErrorMessage(heard)
    return { state: "failed", pid, log, problem }
  } catch (error) {
    return { state: "failed", pid: undefined, log, problem: toErrorMessage(error) }
  }
}

function whenOver(signal: AbortSignal): Promise<"slow"> {
  return new Promise((resolve) => {
    const over = (): void => resolve("slow")
    if (signal.aborted) over()
    signal.addEventListener("abort", over, { once: true })
  })
}

/** Follows no link: somebody else may have put one into the folder. */
function openLog(path: string): number {
  const length = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
  const start = length > LONGEST_LOG_BYTES ? constants.O_TRUNC : constants.O_APPEND
  return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | start, 0o600)
}
