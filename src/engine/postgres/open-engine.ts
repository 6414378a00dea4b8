import { systemClock } from "../../base/clock.ts"
import { closeAll } from "../../base/close-all.ts"
import type { Engine } from "../../task/engine.ts"
import type { TaskId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import { createBoss } from "./queue/boss.ts"
import { createBus, type PostgresBus } from "./notify/bus.ts"
import { DEFAULT_POOL_SIZE, DEFAULT_SCHEMA, readPoolSize, SMALLEST_POOL_SIZE } from "./connection/client-settings.ts"
import type { Query } from "./connection/database.ts"
import { openDatabase } from "./connection/open-database.ts"
import { createDispatcher, createWatchedCommit } from "./queue/dispatcher.ts"
import type { PostgresEngineOptions } from "./engine-options.ts"
import { ensureVersion } from "./schema/migrations.ts"
import { createGroupCommit } from "./commit/group-commit.ts"
import { createJudgeLease } from "./read/judge-lease.ts"
import { readNow, createServerTime, type ServerTime, toGivenTime } from "./connection/server-time.ts"
import { createOutputs } from "./outputs.ts"
import { createChangeQueue } from "./queue/change-queue.ts"
import { createUpkeep } from "./queue/upkeep.ts"
import { createRunGroup } from "./commit/run-group.ts"
import { createStore } from "./store.ts"

/** Opens the parts of the engine one after the other. After a failure, the parts that are open are closed again. */
export async function openEngine(options: PostgresEngineOptions): Promise<Engine> {
  const { url, schema = DEFAULT_SCHEMA, clock, isHolderAlive, tell = () => {} } = options
  let isAway = false
  let onFoundAway = (): void => {}
  const warn = createWarnings({ ...options, isAway: () => isAway })
  await using opened = new AsyncDisposableStack()
  const left = new AbortController()
  const leaving = options.leaving ? AbortSignal.any([options.leaving, left.signal]) : left.signal
  const poolSize = Math.max(options.poolSize ?? readPoolSize(url) ?? DEFAULT_POOL_SIZE, SMALLEST_POOL_SIZE)
  const onAway = (isGone: boolean): void => {
    isAway = isGone
    if (isGone) onFoundAway()
    options.onAway?.(isGone)
  }
  const database = await openDatabase({ ...options, poolSize, leaving, onAway })
  opened.defer(database.close)
  await ensureVersion({ url, schema, database, leaving, tell })
  const time = clock ? toGivenTime(clock) : await openTime(database.query)
  const boss = await createBoss(database, schema, (error) => warn("the queue is in trouble", error))
  opened.defer(boss.close)
  const tellOthers = (): Promise<void> => bus.notify(database.query, [{ wakes: [], hasOffers: true }])
  const changeQueue = createChangeQueue(boss, clock === undefined)
  const notify: PostgresBus["notify"] = (query, changes) => bus.notify(query, changes)
  const judgeLease = createJudgeLease(isHolderAlive, clock)
  const runGroup = createRunGroup({ database, judgeLease, clock, time, changeQueue, notify })
  const groupCommit = createGroupCommit(runGroup, (changes) => bus.publish(changes), database.away)
  onFoundAway = groupCommit.refuseImpatient
  const dispatcher = createDispatcher({ query: database.query, boss, clock, tellOthers })
  const bus: PostgresBus = await createBus({ url, schema, database, warn, onOffers: dispatcher.announce })
  const commit = createWatchedCommit(groupCommit.commit, dispatcher) as TaskStore["commit"]
  const outputs = createOutputs(database.query, (tasks) => tellOfOutput(database.query, bus, tasks))
  const upkeep = createUpkeep(boss, warn)

  const kept = opened.move()
  let closing: Promise<void> | undefined
  const close = (): Promise<void> =>
    (closing ??= closeAll([
      () => {
        left.abort()
        // Both refuse new work at once.
        return Promise.all([groupCommit.close(), outputs.close()])
      },
      bus.close,
      () => withinMoments(Promise.all([dispatcher.close(), upkeep.close()])),
      () => kept.disposeAsync(),
    ]))
  return {
    name: "postgres",
    store: createStore({ database, judgeLease, commit, ...(clock && { clock }) }),
    dispatcher,
    bus,
    outputs,
    now: time.now,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Asks the server for its time once. From then on the answers to commits tell it. */
async function openTime(query: Query): Promise<ServerTime> {
  const time = createServerTime()
  const hear = time.ask()
  hear(await readNow(query))
  return time
}

/** Tells readers of new output. A reader that misses the wake-up looks again by itself. */
function tellOfOutput(query: Query, bus: PostgresBus, tasks: readonly TaskId[]): void {
  const news = [{ wakes: tasks.map((taskId) => ({ about: "output", taskId }) as const), hasOffers: false }]
  bus.publish(news)
  bus.notify(query, news).catch(() => {})
}

const MOMENTS_MS = 1_000

/**
 * Waits only for moments: this is a courtesy to other processes, which would find out anyway, and the server may be
 * gone.
 */
async function withinMoments(courtesy: Promise<unknown>): Promise<void> {
  const isOver = Promise.withResolvers<void>()
  const cancel = systemClock.schedule(MOMENTS_MS, isOver.resolve)
  await Promise.race([courtesy.catch(() => {}), isOver.promise])
  cancel()
}

interface WarningsParts extends Pick<PostgresEngineOptions, "log" | "tell"> {
  /** True if the server is away. A person was told then why things fail. */
  isAway(): boolean
}

/** Warns the person who runs this process. `error`: the reason, where that is not part of the message. */
type Warn = (message: string, error?: string) => void

/** Writes every warning to the log; without a log, tells the person each warning once. */
export function createWarnings({ log, tell, isAway }: WarningsParts): Warn {
  const told = new Set<string>()
  return (message, error) => {
    if (log) return log.warn(message, error === undefined ? undefined : { error })
    if (told.has(message) || isAway()) return
    told.add(message)
    tell?.(toSentence(message, error))
  }
}

function toSentence(message: string, error: string | undefined): string {
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}`
  return error === undefined ? sentence : `${sentence}: ${error}`
}
