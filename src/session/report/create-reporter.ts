import type { CancelTimer } from "../../base/clock.ts"
import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { Conversation, Reporter, WorkQueue } from "../conversation/conversation.ts"
import {
  type Delivery,
  endedIn,
  type EndedTask,
  keysOf,
  toKeyText,
  traceOf,
  type WaitingTask,
} from "../results/delivery.ts"
import { readDeliverable } from "../results/read-deliverable.ts"
import { findLiveTurn } from "../log/stored-turn.ts"
import { parseSessionData } from "../log/session-data.ts"
import { publishGenerated } from "./generated-report.ts"
import { planReport, type ReportPlan } from "./report-plan.ts"
import type { ReportOptions } from "../conversation/report-request.ts"
import type { NewTurnScope } from "../turn/take-new-turn.ts"
import { type ReportOutcome, takeReportTurn } from "./report-turn.ts"
import { fallBack } from "./publish-report.ts"
import type { Using } from "../conversation/scope.ts"
import type { ReportScope } from "../conversation/report-config.ts"

/** Ends that come as close together as this are told in one report. */
const QUIET_MS = 1
/** A stream of ends without a pause is told in pieces, one after each such time. */
const LONGEST_PAUSE_MS = 250
/** How soon a session that is busy in another process is looked at again. */
const LATER_MS = 1_000

/** Lets the agent report from now on. Called again, it replaces the generator. */
export function enableReports(scope: NewTurnScope, conversation: Conversation, options: ReportOptions = {}): void {
  conversation.reporter?.close()
  conversation.reporter = createReporter(scope, conversation, options)
  conversation.reporter.wake()
}

function createReporter(scope: NewTurnScope, conversation: Conversation, { generator }: ReportOptions): Reporter {
  const { clock, config } = scope
  const directly = createNotifiedResults(scope, conversation)
  const deferral = createDeferral(scope, readWaiting, (ended) => directly.show(ended))
  const waiters = new Set<() => void>()
  let isClosed = false
  let isDue = false
  let isWorking = false
  let firstWakeMs: number | null = null
  let cancelPause: CancelTimer | null = null

  function wake(): void {
    if (isClosed) return
    isDue = true
    if (isWorking) return
    const now = clock.monotonic()
    // The longest pause is over and the look is about to come: it is not put off again.
    if (firstWakeMs !== null && now >= firstWakeMs + LONGEST_PAUSE_MS) return
    firstWakeMs ??= now
    cancelPause?.()
    cancelPause = clock.schedule(Math.min(QUIET_MS, firstWakeMs + LONGEST_PAUSE_MS - now), takeIn)
  }

  /**
   * In a process that was held up, the pause may be over before all that ended during it is written: lets those writes come
   * first.
   */
  function takeIn(): void {
    if (isBusy(conversation.queue)) return look()
    const next = setImmediate(look)
    cancelPause = () => clearImmediate(next)
  }

  function look(): void {
    firstWakeMs = null
    if (isClosed || isWorking) return
    // The report stays due: the reporter is woken when the conversation's work ends.
    if (isBusy(conversation.queue)) return deferral.begin()
    isDue = false
    isWorking = true
    void work()
  }

  async function work(): Promise<void> {
    const outcome = await report().catch(leave)
    isWorking = false
    if (isClosed) return
    if (outcome === "later") return lookLater()
    deferral.end()
    if (isDue) wake()
    else rest()
  }

  async function report(): Promise<ReportOutcome> {
    if (!conversation.hasTasks && !conversation.hasNews) return "done"
    const delivery = await readDeliverable(scope, conversation)
    directly.forgetUsed(delivery)
    const { delivery: told, hops, unreported, why } = plan(delivery)
    directly.show(unreported, why)
    directly.show(delivery.waiting)
    if (!told || isClosed) return "done"
    if (await isBusyElsewhere(scope, conversation)) return "later"
    if (!generator) return takeReportTurn(scope, conversation, plan, traceOf(told))
    directly.giveUp(await publishGenerated(scope, conversation, { generator, delivery: told, hops }))
    return "done"
  }

  function plan(delivery: Delivery): ReportPlan {
    const { wakes = 0 } = conversation.log.data
    return planReport(delivery, { config: config.reports, wakes, now: clock.now(), isGivenUp: directly.isGivenUp })
  }

  async function readWaiting() {
    const { delivery, unreported } = plan(await readDeliverable(scope, conversation))
    return [...unreported, ...(delivery ? endedIn(delivery) : [])]
  }

  function lookLater(): void {
    isDue = true
    deferral.begin()
    cancelPause?.()
    cancelPause = clock.schedule(LATER_MS, look, { isBackground: true })
  }

  function leave(error: unknown): ReportOutcome {
    // The report is not tried again at once, but at the next end, or at the next look for ends that were missed.
    isDue = false
    if (isMeanwhileError(error, "closed")) close()
    else scope.log.warn("results could not be reported", { session: conversation.log.id, error: toErrorMessage(error) })
    return "done"
  }

  function rest(): void {
    for (const resolve of waiters) resolve()
    waiters.clear()
  }

  function close(): void {
    isClosed = true
    cancelPause?.()
    deferral.end()
    rest()
  }

  return {
    wake,
    lookAgain: () => (isDue || conversation.hasTasks ? wake() : undefined),
    async reported(signal) {
      if (isClosed || signal?.aborted) return
      wake()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiters.add(resolve)
      signal?.addEventListener("abort", () => resolve(), { once: true })
      await promise
      waiters.delete(resolve)
    },
    close,
  }
}

/** True while a turn, a collection, another change of the conversation or a question to the person is going on. */
function isBusy({ length, openQuestions }: WorkQueue): boolean {
  return length > 0 || openQuestions > 0
}

/** True if the session has a live turn: while nothing runs here, it is another process's. */
async function isBusyElsewhere({ store }: Using<"store">, { log }: Conversation): Promise<boolean> {
  const record = await store.session(log.id)
  return record !== undefined && (await findLiveTurn(store, parseSessionData(record.data))) !== undefined
}

/** Remembers the results that the person was notified of, once each, until the model has used them. */
interface NotifiedResults {
  show(found: readonly WaitingTask[], why?: string | null): void
  /** Records that a report of these failed: the person was notified, and no other report is tried. */
  giveUp(ended: readonly EndedTask[]): void
  isGivenUp(ended: EndedTask): boolean
  forgetUsed(unused: Delivery): void
}

function createNotifiedResults(scope: ReportScope, conversation: Conversation): NotifiedResults {
  const shown = new Set<string>()
  const givenUp = new Set<string>()
  return {
    show(found, why = null) {
      const unseen = found.filter(({ key }) => !shown.has(toKeyText(key)))
      for (const { key } of unseen) shown.add(toKeyText(key))
      fallBack(scope, conversation, unseen, why)
    },
    giveUp(ended) {
      for (const key of ended.map((each) => toKeyText(each.key))) {
        givenUp.add(key)
        shown.add(key)
      }
    },
    isGivenUp: ({ key }) => givenUp.has(toKeyText(key)),
    forgetUsed(unused) {
      const keys = new Set(keysOf(unused).map(toKeyText))
      for (const known of [shown, givenUp]) for (const key of known) if (!keys.has(key)) known.delete(key)
    },
  }
}

/** A conversation may stay busy for hours: results that have waited too long for it are shown to the person directly. */
function createDeferral(
  { clock, log, config }: Using<"clock" | "log"> & ReportScope,
  readWaiting: () => Promise<readonly EndedTask[]>,
  show: (ended: readonly EndedTask[]) => void,
) {
  const { maxDeferralMs } = config.reports
  let cancelTimer: CancelTimer | null = null
  let isOn = false

  function schedule(afterMs: number): void {
    cancelTimer = clock.schedule(afterMs, () => void look(), { isBackground: true })
  }

  async function look(): Promise<void> {
    try {
      const waiting = await readWaiting()
      if (!isOn) return
      const isOver = ({ at }: EndedTask): boolean => at + maxDeferralMs <= clock.now()
      show(waiting.filter(isOver))
      const next = Math.min(clock.now(), ...waiting.filter((one) => !isOver(one)).map(({ at }) => at))
      schedule(next + maxDeferralMs - clock.now())
    } catch (error) {
      if (!isOn || isMeanwhileError(error, "closed")) return
      schedule(maxDeferralMs)
      log.warn("results that wait for a busy conversation could not be shown", { error: toErrorMessage(error) })
    }
  }

  return {
    begin(): void {
      if (isOn) return
      isOn = true
      schedule(maxDeferralMs)
    },
    end(): void {
      isOn = false
      cancelTimer?.()
    },
  }
}
