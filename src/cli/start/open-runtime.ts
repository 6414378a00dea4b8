import type { Program, ProgramOptions } from "../../program/open-program.ts"
import { type BegunHere, openBegunHere } from "./begun-here.ts"
import { openDataDirectory } from "./data-directory.ts"
import { plain } from "../format/format.ts"
import type { AgentEvent } from "../format/agent-event.ts"
import { openDesk } from "./person-desk.ts"
import { createWaitExit } from "./wait-exit.ts"

/** The options of every way to start the program. */
export interface GlobalOptions {
  readonly dataDir?: string
  readonly trust?: true
  readonly model?: string
  /** The URL of a store on PostgreSQL. */
  readonly engine?: string
  /** How many tasks run at once here. Default: as configured. */
  readonly concurrency?: number
}

export interface OpenedRuntime {
  readonly meanwhile: Program
  readonly dataDirectory: string
  /** Null: the store is the one in the data folder. */
  readonly begun: BegunHere | null
  /** Hands over, once, events that came before the caller listened: a turn of an earlier process goes on at once. */
  takeEarlyEvents(): readonly AgentEvent[]
  /** True if the store is away now. */
  isStoreAway(): boolean
  /** From now on, waits for no store that is away: calls that need the store are refused. */
  leave(): void
  /** Aborted once the store is away and is no longer waited for. */
  readonly gone: AbortSignal
}

type ProgramWishes = "waitsForServers" | "takesWork" | "endsWhenIdle" | "worker" | "makesReports" | "log" | "person"

export interface OpeningOptions extends GlobalOptions, Pick<ProgramOptions, ProgramWishes> {
  /** The longest wait at the start for the server of the store. */
  readonly startPatienceMs?: number
  /** Ends the wait for the store at the start. */
  readonly signal?: AbortSignal
  /** Default false. If true, a signal during the wait for the store ends the program, with a line about it. */
  readonly endsAtSignal?: boolean
  /** Keeps early events until they are taken. Default false. */
  readonly keepsEarlyEvents?: boolean
  readonly notify: (text: string) => void
  /**
   * Asks whether the folder's files are trusted, and whether the work of a data folder that this person's programs did
   * not make may run here. Without it they are not, and it may not, unless `trust` says so.
   */
  readonly confirmTrust?: (question: string) => Promise<boolean>
}

/** The runtime of this folder. Loaded only now: `--version` and `--help` need none of it. */
export async function openRuntime(options: OpeningOptions): Promise<OpenedRuntime> {
  const { notify, confirmTrust, trust = false, waitsForServers = false, takesWork = true } = options
  const { engine, worker, makesReports = true, concurrency, log, person, startPatienceMs } = options
  const leaving = new AbortController()
  const gone = new AbortController()
  let isAway = false
  const dataDirectory = openDataDirectory(options.dataDir)
  const { openProgram } = await import("../../program/open-program.ts")
  let early: AgentEvent[] | null = []
  const print = (text: string): void => notify(plain(text))
  using waiting = options.endsAtSignal ? createWaitExit(print) : null
  const meanwhile = await openProgram({
    dataDirectory,
    workingDirectory: process.cwd(),
    environment: process.env,
    trust,
    waitsForServers,
    takesWork,
    makesReports,
    ...(options.endsWhenIdle && { endsWhenIdle: true }),
    ...(worker && { worker }),
    ...(concurrency !== undefined && { maxConcurrentTasks: concurrency }),
    ...(engine !== undefined && { engine }),
    ...(log && { log }),
    ...(person && { person }),
    storeWait: {
      leaving: options.signal ? AbortSignal.any([options.signal, leaving.signal]) : leaving.signal,
      onGone: () => gone.abort(),
      onAway: (isGone) => void (isAway = isGone),
      ...(startPatienceMs !== undefined && { startPatienceMs }),
      ...(waiting && { tell: waiting.tell }),
    },
    notify: print,
    ...(options.keepsEarlyEvents && { onEvent: (event) => early?.push(event) }),
    ...(confirmTrust && { confirmTrust: ({ text }) => confirmTrust(text), confirmData: confirmTrust }),
  })
  return {
    meanwhile,
    dataDirectory,
    begun: openDesk(meanwhile).isShared ? openBegunHere(dataDirectory, meanwhile.storePlace) : null,
    takeEarlyEvents() {
      const events = early ?? []
      early = null
      return events
    },
    isStoreAway: () => isAway,
    leave: () => leaving.abort(),
    gone: gone.signal,
  }
}
