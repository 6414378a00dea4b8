import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { JsonObject } from "../../base/json.ts"
import { VERSION } from "../../base/version.ts"
import type { WorkerId } from "../../task/id.ts"
import { ANNOUNCEMENTS } from "../../task/worker.ts"
import type { HasConfig, HasQueue, HasTools, StopScope } from "../run/scope.ts"
import { TURN_PLUGIN } from "../tool/tool-source.ts"

interface Said {
  readonly worker: WorkerId
  readonly text: string
  readonly version: number
}

const TRY_AGAIN_MS = 2_000

/** Announces what this worker can run: at its start, when its tools change, and when it takes nothing more. */
export function createAnnouncer(scope: StopScope & HasQueue & HasTools, leaves: () => readonly string[]) {
  const since = scope.clock.now()
  let said: Said | undefined
  let saying: Promise<void> | undefined
  let isWanted = false
  let state: "open" | "leaving" | "closed" = "open"

  async function say(): Promise<void> {
    const taken = toAnnouncement(scope, since, leaves())
    const value = taken && state !== "open" ? { ...taken, ...NOTHING_NEW } : taken
    const { id } = scope.worker
    const text = JSON.stringify(value)
    if (!value || (said?.worker === id && said.text === text)) return
    const { workspace, collection } = ANNOUNCEMENTS
    const known = said?.worker === id ? said : await scope.store.document(workspace, collection, id)
    said = undefined
    const [{ version }] = await scope.store.commit([
      { op: "document.put", ...ANNOUNCEMENTS, id, value, expectedVersion: known?.version ?? 0 },
    ])
    said = { worker: id, text, version }
  }

  const isToBeSaid = (): boolean => isWanted && (state === "leaving" || (state === "open" && !scope.active.isClosing))

  async function sayWhileWanted(): Promise<void> {
    while (isToBeSaid()) {
      isWanted = false
      try {
        await say()
      } catch (error) {
        if (isMeanwhileError(error, "closed")) return
        scope.log.warn("others could not be told what this worker can run", { error: toErrorMessage(error) })
        scope.clock.schedule(TRY_AGAIN_MS, () => void announce(), { isBackground: true })
      }
    }
  }

  /** Writes nothing if nothing has changed. Logs a failure and tries again later: until then nobody counts on this worker. */
  function announce(): Promise<void> {
    isWanted = true
    saying ??= sayWhileWanted().then(() => {
      saying = undefined
      // Since the last check, a caller that was given this promise has asked for an announcement.
      return isToBeSaid() ? announce() : undefined
    })
    return saying
  }

  return {
    announce,
    /** Announces from now on that this worker takes nothing new. */
    leave(): Promise<void> {
      state = "leaving"
      return announce()
    },
    /** Announces nothing from now on. Resolves when no announcement is being written. */
    async close(): Promise<void> {
      state = "closed"
      await saying
    },
  }
}

/** Empty lists say the same to earlier versions, which do not know `isLeaving`. */
const NOTHING_NEW = { kinds: [], plugins: {}, isLeaving: true } as const

/** Undefined for a program that only looks: it has nothing to announce. */
function toAnnouncement(
  { tools, config, queue: { own, ownTurns, takesKinds, takesTurns } }: HasConfig & HasQueue & HasTools,
  since: number,
  leaves: readonly string[],
): JsonObject | undefined {
  const names = [...tools.names()]
  if (own && names.every(([plugin]) => plugin === TURN_PLUGIN)) return undefined
  return {
    version: VERSION,
    since,
    takes: ownTurns ? "own" : "all",
    kinds: [...(config.maxConcurrentTasks > 0 ? takesKinds : []), ...(takesTurns ? ["turn"] : [])],
    plugins: Object.fromEntries(names.map(([plugin, ofPlugin]) => [plugin, [...ofPlugin]])),
    concurrency: config.maxConcurrentTasks,
    ...(leaves.length > 0 && { leaves }),
  }
}
