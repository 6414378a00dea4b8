import { realpathSync } from "node:fs"
import { hostname } from "node:os"
import { isMeanwhileError } from "../base/error.ts"
import type { JsonValue } from "../base/json.ts"
import { lookUntil } from "../base/look-until.ts"
import { sleep } from "../base/sleep.ts"
import { toWorkerIdentity } from "../runner/worker/worker-identity.ts"
import { createWorkerId } from "../task/id.ts"
import { isRefusedForNow } from "../task/store-refusal.ts"
import type { Blocked } from "./blocked.ts"
import type { DeskScope } from "./desk-options.ts"
import { hasOpenWork } from "./open-work.ts"

/** Long, because the lease of a process that is gone is over at once. */
const POST_TTL_MS = 30 * 24 * 60 * 60 * 1_000
const POST_EVERY_MS = 100
/** A keeper that is ending for longer stands still. */
const POST_PATIENCE_MS = 30_000
const LOOK_EVERY_MS = 1_000

/** The side of a process that finishes what others have left, and then ends. */
export interface Keeper {
  /**
   * Takes the post of the one keeper of this data folder, and holds it until the process is gone. False: another keeper
   * has it, and looks for work once more before it ends. Waits for a keeper that is just ending. If that one stands still,
   * a line tells so, and this one works without the post.
   */
  takePost(tell: (line: string) => void): Promise<boolean>
  /** Resolves when nothing is left that this process could bring on, or when the signal aborts. */
  whenIdle(signal: AbortSignal): Promise<void>
}

interface KeeperScope extends Pick<DeskScope, "workspace" | "clock" | "dataDirectory"> {
  readonly store: Pick<DeskScope["store"], "commit" | "leases" | "task">
  readonly tasks: Pick<DeskScope["tasks"], "list" | "workers">
}

/**
 * Two programs that leave at once each start a keeper, and one of them stays. A program starts its keeper only once its
 * work is back in the store. So either that keeper finds the post free, or the keeper that holds it finds the work: it says
 * that it is ending before its last look.
 */
export function createKeeper(scope: KeeperScope, blocked: Pick<Blocked, "byQuestion">): Keeper {
  const { store, clock, dataDirectory } = scope
  const toKey = (): string => `keeper/${hostname()} ${realpathSync(dataDirectory)}`
  const holder = createWorkerId()
  let hasPost = false
  /** True also while nobody knows if the store has it. */
  let isSaidToEnd = false

  async function hold(isEnding: boolean): Promise<void> {
    isSaidToEnd ||= isEnding
    const data = { ...toWorkerIdentity(), isEnding }
    await store.commit([{ op: "lease.take", key: toKey(), holder, ttlMs: POST_TTL_MS, data }])
    isSaidToEnd = isEnding
  }

  async function isIdle(): Promise<boolean> {
    if (await hasOpenWork(scope, blocked)) {
      if (isSaidToEnd) await hold(false)
      return false
    }
    if (!hasPost) return true
    await hold(true)
    if (!(await hasOpenWork(scope, blocked))) return true
    await hold(false)
    return false
  }

  return {
    async takePost(tell) {
      for (const startedMs = clock.monotonic(); ; await sleep(clock, POST_EVERY_MS)) {
        try {
          await hold(false)
          hasPost = true
          return true
        } catch (error) {
          if (!isMeanwhileError(error, "lease_held")) throw error
        }
        const key = toKey()
        const held = (await store.leases(key)).find((lease) => lease.key === key)
        if (held && held.data["isEnding"] !== true) return false
        if (clock.monotonic() - startedMs < POST_PATIENCE_MS) continue
        tell(toStandstill(held?.data["pid"]))
        return true
      }
    },
    async whenIdle(signal) {
      await lookUntil({
        clock,
        pollMs: LOOK_EVERY_MS,
        signals: [signal],
        keepsProcessAlive: true,
        subscribe: () => () => undefined,
        look: () => isIdle().then((idle) => idle || undefined, passOver),
      })
    },
  }
}

function toStandstill(pid: JsonValue | undefined): string {
  const text = `The keeper before this one (pid ${JSON.stringify(pid)}) has been ending for ${POST_PATIENCE_MS / 1_000} s and stands still.`
  return `${text} This one finishes the work in its place; end the other one.`
}

/** A store that is away, or takes no writes, says nothing about the work in it. */
function passOver(error: unknown): undefined {
  if (isRefusedForNow(error)) return undefined
  throw error
}
