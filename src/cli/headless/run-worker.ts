import { closeSync, fstatSync, writeSync } from "node:fs"
import { isMeanwhileError } from "../../base/error.ts"
import { whenAborted } from "../../base/when-aborted.ts"
import type { ProgramOptions } from "../../program/open-program.ts"
import { closeUnlessAway } from "../start/away-store.ts"
import { EXIT_CODES, type ExitName } from "../start/exit-code.ts"
import { formatDuration, plain } from "../format/format.ts"
import { type GlobalOptions, type OpenedRuntime, openRuntime } from "../start/open-runtime.ts"
import { createLineScreen } from "../screen/create-screen.ts"
import type { Screen } from "../screen/screen.ts"
import { openDesk } from "../start/person-desk.ts"
import { type Keeper, KEEPER_IS_THERE, OTHER_IS_THERE } from "../start/keeper.ts"
import { createLineLog } from "./line-log.ts"
import { createStop, type Stop } from "./stop.ts"

export interface WorkerOptions extends GlobalOptions {
  /** Options that win over the configuration. */
  readonly worker: NonNullable<ProgramOptions["worker"]>
  readonly isVerbose: boolean
  /** Ends by itself once nothing is left to do. */
  readonly endsWhenIdle: boolean
  /** True for a keeper, which a program has started that left its work: its commands outlive it. */
  readonly isKeeper: boolean
}

/** The interval of a timer that keeps the process alive, since the queue's timers do not. */
const ALIVE_EVERY_MS = 3_600_000

/** A stop that takes longer than this says that it is under way. */
const STOP_PATIENCE_MS = 1_000

/** How long to wait for the server: workers are started together with it, or before it. */
const START_PATIENCE_MS = 60_000

/** Takes work until a signal stops it. A second signal ends the process at once. */
export async function runWorker(options: WorkerOptions): Promise<ExitName> {
  const screen = createLineScreen(process.stdout, process.env)
  const stop = createStop()
  stop.hurry.addEventListener("abort", () => {
    screen.print(`Worker ${process.pid} ends at once. What it ran is taken over as after a crash; the processes of its`)
    screen.print("commands may go on until a worker or a chat with this data folder is started.")
    process.exit(EXIT_CODES.stopped)
  })
  using _ = setInterval(() => {}, ALIVE_EVERY_MS)
  const opened = await openWorker(options, screen, stop)
  if (!opened) {
    screen.print(`Worker ${process.pid} has stopped while it waited for its store. It had taken nothing.`)
    return "stopped"
  }
  const { meanwhile, isStoreAway, gone } = opened
  const { keeper } = openDesk(meanwhile)
  if (options.isKeeper && !(await keepPost(keeper, screen))) {
    await closeUnlessAway(meanwhile, KEEP)
    screen.print(`Keeper ${process.pid} has ended: another one keeps this folder's work.`)
    return "completed"
  }
  const { kinds, drainSeconds } = meanwhile.worker
  const drainMs = drainSeconds * 1_000
  const what = kinds ? `${kinds.join(" and ")} tasks` : "tasks"
  const { maxConcurrentTasks: most, storePlace } = meanwhile
  screen.print(`Worker ${process.pid} takes ${what} from ${plain(storePlace)}, at most ${most} at once.`)
  const over = AbortSignal.any([stop.signal, gone])
  if (options.endsWhenIdle) await keeper.whenIdle(over)
  else await whenAborted(over)
  const isKeeping = options.isKeeper || !over.aborted
  using _hint = isKeeping ? null : tellStopping(screen, drainMs, isStoreAway)
  const isClosed = await closeUnlessAway(meanwhile, isKeeping ? KEEP : { drainMs, handsBack: true })
  const left = isClosed ? "" : " Its store is away: others take over what it ran."
  screen.print(`Worker ${process.pid} has stopped.${left}`)
  return isClosed ? "completed" : "stopped"
}

const KEEP = { work: "keep" } as const
/** The pipe on which a keeper answers the program that has started it. */
const ANSWER_PIPE = 3

/** Tells the program that has started this keeper that it is there. False: another keeper has the post. */
async function keepPost(keeper: Keeper, screen: Screen): Promise<boolean> {
  const hasPost = await keeper.takePost((line) => screen.print(line))
  try {
    if (!fstatSync(ANSWER_PIPE).isSocket()) return hasPost
    writeSync(ANSWER_PIPE, hasPost ? KEEPER_IS_THERE : OTHER_IS_THERE)
    closeSync(ANSWER_PIPE)
  } catch {
    // The program did not wait for the answer.
  }
  return hasPost
}

/** A drain is announced at once; a stop without one only when it takes longer than a moment. */
function tellStopping(screen: Screen, drainMs: number, isStoreAway: () => boolean): Disposable {
  const tell = (going: string): void =>
    screen.print(`Worker ${process.pid} ${going} Another Ctrl+C or SIGTERM ends it at once.`)
  const most = `lets other tasks come to their end for ${formatDuration(drainMs)} at most.`
  if (drainMs > 0) tell(`takes nothing new, hands agents back, and ${most}`)
  return setTimeout(() => {
    if (drainMs === 0 && !isStoreAway()) tell("is ending what it runs.")
  }, STOP_PATIENCE_MS)
}

/** Null: the worker was stopped while its store did not answer. */
async function openWorker(options: WorkerOptions, screen: Screen, stop: Stop): Promise<OpenedRuntime | null> {
  const { isVerbose } = options
  const notes = createLineScreen(process.stderr, process.env)
  const opening = new AbortController()
  const giveUp = (): void => opening.abort()
  stop.signal.addEventListener("abort", giveUp)
  let gone = opening.signal
  try {
    const opened = await openRuntime({
      ...options,
      startPatienceMs: START_PATIENCE_MS,
      signal: opening.signal,
      waitsForServers: true,
      makesReports: false,
      endsWhenIdle: options.endsWhenIdle,
      notify: (text) => notes.print(text),
      log: createLineLog({ screen, notes, isVerbose, isLeft: () => gone.aborted }),
    })
    gone = opened.gone
    return opened
  } catch (error) {
    if (stop.signal.aborted && isMeanwhileError(error, "store_unavailable")) return null
    throw error
  } finally {
    stop.signal.removeEventListener("abort", giveUp)
  }
}
