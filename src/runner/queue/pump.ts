import type { CancelTimer } from "../../base/clock.ts"
import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { Offer } from "../../task/dispatcher.ts"
import { beginClaimed } from "../execute/begin-claimed.ts"
import { toSlotKeys } from "../execute/begin-run.ts"
import { track } from "../run/enter.ts"
import { takeTurns } from "../turn/take-turns.ts"
import type { ExecuteScope, HasEngine, HasQueue, HasSlots } from "../run/scope.ts"
import { createAnnouncer } from "./announcer.ts"
import { createFolderMismatch, type FolderMismatch } from "./folder-mismatch.ts"

/** Finds queued tasks whose wake-up was lost. */
const SAFETY_POLL_MS = 1_000

export type Pump = ReturnType<typeof createPump>

/** Takes queued tasks while there is room. The claim in the store decides who runs what; everything else is a hint. */
export function createPump(scope: ExecuteScope) {
  let looking: Promise<void> | undefined
  let isNudged = false
  let isStopped = false
  let cancelTimer: CancelTimer | undefined
  const mismatch = createFolderMismatch(scope, () => announcer.announce())
  const announcer = createAnnouncer(scope, mismatch.list)

  function nudge(): void {
    isNudged = true
    if (isStopped) return
    looking ??= lookWhileNudged().finally(() => {
      looking = undefined
      if (isNudged && !isStopped) nudge()
    })
  }

  async function lookWhileNudged(): Promise<void> {
    while (isNudged && !isStopped) {
      isNudged = false
      try {
        await look(scope, mismatch, nudge)
      } catch (error) {
        if (isMeanwhileError(error, "closed")) return
        if (isMeanwhileError(error, "store_gone")) return stopLooking()
        scope.log.error("the queue could not be read; trying again", { error: toErrorMessage(error) })
        break
      }
    }
    await armTimer()
  }

  async function armTimer(): Promise<void> {
    cancelTimer?.()
    if (isStopped) return
    const dueInMs = await scope.engine.dispatcher.nextDueInMs().catch(() => undefined)
    const delayMs = Math.min(Math.max(dueInMs ?? SAFETY_POLL_MS, 1), SAFETY_POLL_MS)
    cancelTimer = scope.clock.schedule(delayMs, lookForAll, { isBackground: true })
  }

  function lookForAll(): void {
    scope.queue.mayHaveQueuedTurns = true
    nudge()
  }

  const unsubscribe = scope.engine.dispatcher.onOffer(() => {
    scope.queue.hint.raise()
    nudge()
  })

  function stopLooking(): void {
    isStopped = true
    unsubscribe()
    cancelTimer?.()
  }

  return {
    nudge,
    /** Called when this worker has a new id or other tools. Resolves once others can know. */
    announce(): Promise<void> {
      nudge()
      return announcer.announce()
    },
    /** Takes nothing from now on. */
    async stop(): Promise<void> {
      stopLooking()
      await looking
      cancelTimer?.()
    },
    leave: announcer.leave,
    close: announcer.close,
  }
}

async function look(scope: ExecuteScope, mismatch: FolderMismatch, nudge: () => void): Promise<void> {
  await takeTurns(scope)
  await mismatch.review()
  if (scope.slots.free() === 0 || scope.queue.takesKinds.length === 0 || scope.active.isClosing) return
  const limit = scope.slots.free() + mismatch.count()
  const missing = mismatch.places()
  const foundAll = scope.queue.hint.beginLook()
  const fullSessions = scope.slots.fullSessions()
  const fullWorkspaces = scope.slots.fullWorkspaces()
  const fullModels = scope.slots.fullModels()
  const known = scope.tools.plugins()
  const room = new Map(known.map((plugin) => [plugin, roomFor(plugin)]))
  const plugins = known.filter((plugin) => room.get(plugin) !== 0)
  function roomFor(plugin: string): number {
    const free = scope.slots.roomOf(plugin)
    return free === 0 ? 0 : Math.min(free + mismatch.count(plugin), limit)
  }
  const offers = await scope.engine.dispatcher.take({
    worker: scope.worker.id,
    limit,
    kinds: scope.queue.takesKinds,
    plugins,
    tools: scope.tools.names(),
    room,
    fullSessions,
    fullWorkspaces,
    fullModels,
    missing,
    ...scope.queue.own?.toRequest(),
  })
  const byPlugin = Map.groupBy(offers, ({ plugin }) => plugin)
  const isAnythingFull =
    fullSessions.length + fullWorkspaces.length + fullModels.length > 0 ||
    known.some((plugin) => (byPlugin.get(plugin)?.length ?? 0) >= (room.get(plugin) ?? limit))
  if (!isAnythingFull && offers.length < limit) foundAll()
  const left = mismatch.count() + missing.length
  const placed = await mismatch.sift(offers)
  // Offers that are now known to be skipped must not stand before the rest again.
  if (placed.length < offers.length && mismatch.count() + mismatch.places().length > left) nudge()
  const accepted = accept(scope, placed)
  const claims = await Promise.allSettled(accepted.map((offer) => claim(scope, offer)))
  const failed = claims.find((answer) => answer.status === "rejected")
  if (failed) throw failed.reason
  const hasBegun = claims.some((answer) => answer.status === "fulfilled" && answer.value)
  if (hasBegun && scope.slots.free() > 0 && offers.length === limit) nudge()
}

/** The offers that got a slot. There may be more offers of a plugin or a session than it has slots. */
function accept({ slots, queue, engine }: HasEngine & HasSlots & HasQueue, offers: readonly Offer[]): readonly Offer[] {
  const accepted = new Set(offers.filter((offer) => slots.tryTake(toSlotKeys(offer))))
  if (accepted.size < offers.length) {
    queue.hint.raise()
    engine.dispatcher.decline(offers.filter((offer) => !accepted.has(offer)))
  }
  return [...accepted]
}

/** True when the task is now ours and runs. The caller has taken its slot. */
async function claim(scope: ExecuteScope, offer: Offer): Promise<boolean> {
  try {
    await track(scope, async () => {
      const run = { taskId: offer.taskId, run: offer.run }
      const event = { type: "task.started", worker: scope.worker.id } as const
      const [task] = await scope.store.commit([{ op: "task.apply", run, event }])
      beginClaimed(scope, task)
    })
    return true
  } catch (error) {
    scope.slots.release(toSlotKeys(offer))
    if (isMeanwhileError(error, "wrong_state") || isMeanwhileError(error, "not_found")) return false
    throw error
  }
}
