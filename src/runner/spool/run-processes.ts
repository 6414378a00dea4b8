import { closeSync, openSync, statfsSync } from "node:fs"
import { join, dirname } from "node:path"
import type { Clock } from "../../base/clock.ts"
import type { ProcessExit, ProcessRequest } from "../../plugin/process.ts"
import type { Survivor } from "../../task/stop.ts"
import { MeanwhileError } from "../../base/error.ts"
import { adoptProcess } from "../process/adopt.ts"
import { UNKNOWN_ENDING, readFacts } from "../process/process-file.ts"
import type { Guard } from "../process/guard.ts"
import { encodeIdentity, type ProcessIdentity } from "../process/identity.ts"
import {
  launchProcess,
  type RunningProcess,
  clearGroup,
  type Supervised,
  superviseProcess,
  toSupervised,
  resolveProgram,
} from "../process/command.ts"
import { stopTree } from "../process/stop-tree.ts"
import { isStillAlive, type Member, type ProcessTree, toSurvivor } from "../process/tree.ts"
import { type FoundProcess, findProcesses, forbidProcesses, listProcessNames } from "./found-processes.ts"
import { FILE_MODE, type RunPaths, toProcessName } from "./output-files.ts"

export interface ProcessControl {
  /** Stops the process and all it started. */
  readonly signal: AbortSignal
  readonly graceMs: number
}

/** The processes of a run that a restart found. `never_ran`: none ran, and none will. */
export type Reattachment = "never_ran" | "reattachable" | "lost"

/** The processes of one run: the n-th call of `run` is the n-th process, in this Meanwhile process or a later one. */
export interface RunProcesses {
  run(request: ProcessRequest, control: ProcessControl): Promise<ProcessExit>
  reattach(): Promise<Reattachment>
  stopAll(graceMs: number): Promise<readonly Survivor[]>
  /** Everything that may still write to the output. */
  trees(): readonly ProcessTree[]
  pids(): number[]
  /** Lets Meanwhile exit while they run. */
  release(): void
}

export interface RunProcessesOptions {
  readonly paths: RunPaths
  readonly clock: Clock
  readonly owner: ProcessIdentity
  readonly guard: Guard
  /** The size of the output file past which the guard stops a process. */
  readonly stopPastBytes: number
  /**
   * `NAME=value`: the environment variable that its processes and all they start carry, with their number at its end.
   */
  readonly marker: string
  /** Resolves when the output file exists and holds all that was written before. */
  readonly prepareOutput: () => Promise<void> | undefined
  readonly onStarted: () => void
}

export function createRunProcesses(options: RunProcessesOptions): RunProcesses {
  const { paths, clock, owner, stopPastBytes, marker: runMarker } = options
  const live = new Set<RunningProcess>()
  /** Trees whose command ended and that have living members on purpose. */
  const lingering = new Map<ProcessTree, readonly Member[]>()
  let found = new Map<number, FoundProcess>()
  /** Names of process files of this owner and of owners before it. */
  let known = new Set<string>()
  let count = 0

  async function supervise(running: RunningProcess, control: ProcessControl): Promise<Supervised | "never_ran"> {
    live.add(running)
    options.onStarted()
    try {
      const supervised = await superviseProcess(running, { ...control, clock })
      if (supervised !== "never_ran" && supervised.left.length > 0) lingering.set(running.tree, supervised.left)
      return supervised
    } finally {
      live.delete(running)
    }
  }

  async function start(request: ProcessRequest, control: ProcessControl, name: string, number: number) {
    const argv = resolveProgram(request)
    if (control.signal.aborted) return toSupervised(UNKNOWN_ENDING, [])
    await options.prepareOutput()
    requireNoSuccessor(paths, owner, known)
    const path = join(paths.directory, name)
    const running = await launch({ ...request, argv }, path, `${runMarker}/${number}`)
    const supervised = await supervise(running, control)
    if (supervised === "never_ran") throw toClaimError(path)
    requireSpace(paths, supervised.exit)
    return supervised
  }

  async function launch(request: ProcessRequest, path: string, marker: string): Promise<RunningProcess> {
    const outputDescriptor = openSync(paths.output, "a", FILE_MODE)
    try {
      options.guard.ensure()
      return await launchProcess({ ...request, path, owner, marker, outputDescriptor, stopPastBytes }, clock)
    } finally {
      closeSync(outputDescriptor)
    }
  }

  /** Adopts a process of an earlier Meanwhile process as if it had been started here. */
  async function resume(process: FoundProcess, control: ProcessControl): Promise<Supervised | "never_ran"> {
    const { found: outcome, path } = process
    if (outcome.state === "alive") return supervise(adoptProcess(path, outcome.tree, clock), control)
    if (outcome.state === "never_ran") return "never_ran"
    const left = outcome.tree ? await clearGroup(outcome.tree, clock) : []
    if (outcome.state === "ended" && outcome.wasOverLimit) throw toOverLimitError(stopPastBytes)
    return toSupervised(outcome.state === "ended" ? outcome.ending : UNKNOWN_ENDING, left)
  }

  async function stopEach(graceMs: number): Promise<readonly Survivor[]> {
    const stops = toStopped(live, found).map((tree) => stopTree(tree, { clock, graceMs }))
    return (await Promise.all(stops)).flat().map(toSurvivor)
  }

  /** Stops what runs also where nothing can be forbidden, and then rejects: the next call looks again. */
  async function forbidAndStop(graceMs: number): Promise<readonly Survivor[]> {
    const forbidding = Promise.try(forbidProcesses, paths, runMarker)
    await forbidding.catch(() => undefined)
    found = await findProcesses(paths, runMarker, clock)
    const survivors = await stopEach(graceMs)
    await forbidding.catch(() => found.clear())
    return forbidding.then(() => survivors)
  }

  return {
    async run(request, control) {
      const number = ++count
      const earlier = found.get(number)
      const resumed = earlier && (await resume(earlier, control))
      found.delete(number)
      if (resumed && resumed !== "never_ran") return resumed.exit
      const name = toProcessName(number, (earlier?.launch ?? 0) + 1)
      return (await start(request, control, name, number)).exit
    },
    async reattach() {
      // Also in the process that started them, when it lost the run and takes it over again: calls count anew.
      count = 0
      forbidProcesses(paths, runMarker)
      found = await findProcesses(paths, runMarker, clock)
      known = new Set(listProcessNames(paths))
      const states = new Set([...found.values()].map((process) => process.found.state))
      if (states.has("lost")) return "lost"
      return states.has("ended") || states.has("alive") ? "reattachable" : "never_ran"
    },
    stopAll: (graceMs) => (found.size === 0 && count === 0 ? forbidAndStop(graceMs) : stopEach(graceMs)),
    trees() {
      for (const [tree, members] of lingering) {
        if (!members.some(isStillAlive)) lingering.delete(tree)
      }
      const adopted = [...found.values()].flatMap(({ found: outcome }) =>
        outcome.state === "alive" ? [outcome.tree] : [],
      )
      return [...[...live].map((running) => running.tree), ...adopted, ...lingering.keys()]
    },
    pids() {
      const adopted = [...found.values()].flatMap(({ found: outcome }) =>
        outcome.state === "alive" ? [outcome.tree.leaderPid] : [],
      )
      return [...new Set([...[...live].map((running) => running.tree.leaderPid), ...adopted])]
    },
    release() {
      for (const running of live) running.release()
    },
  }
}

/** Also what is left of a command that has ended: an earlier stop may have ended it and died before the rest was. */
function toStopped(live: Iterable<RunningProcess>, found: ReadonlyMap<number, FoundProcess>): ProcessTree[] {
  const left = [...found.values()].flatMap(({ found: outcome }) =>
    outcome.state === "never_ran" || !outcome.tree ? [] : [outcome.tree],
  )
  return [...Array.from(live, ({ tree }) => tree), ...left]
}

/**
 * A process that stood still does not know that another one has taken the run over. The files tell: the other one has
 * forbidden a process here, or started one of its own.
 */
function requireNoSuccessor(paths: RunPaths, owner: ProcessIdentity, known: Set<string>): void {
  for (const name of listProcessNames(paths)) {
    if (known.has(name)) continue
    const claim = readFacts(join(paths.directory, name))?.claim
    if (claim === "forbidden") throw takenOverError()
    if (typeof claim !== "object") continue
    if (!claim.owner || encodeIdentity(claim.owner) !== encodeIdentity(owner)) throw takenOverError()
    known.add(name)
  }
}

/**
 * A command that failed while the disk is full failed for that, as far as anyone can see: its own writes return the
 * error to it and not to us. One that succeeded did not need the space.
 */
function requireSpace(paths: RunPaths, exit: ProcessExit): void {
  if (exit.exitCode === 0 || !isDiskFull(paths.directory)) return
  throw toDiskFullError(paths.directory)
}

/** Why a wrapper could not claim the right to run its command. The command did not run. */
function toClaimError(path: string): MeanwhileError {
  if (readFacts(path)?.claim === "forbidden") return takenOverError()
  const directory = dirname(path)
  if (isDiskFull(directory)) return toDiskFullError(directory)
  const message = `The command was not started: its wrapper could not write to ${path} or was killed.`
  return new MeanwhileError("store_unavailable", message, { path })
}

function takenOverError(): MeanwhileError {
  const message = "Another Meanwhile process has taken this run over; its command was not started."
  return new MeanwhileError("stale_claim", message)
}

function toOverLimitError(limitBytes: number): MeanwhileError {
  const message = `It was stopped while Meanwhile was not running, because it printed more than ${limitBytes} bytes. Let it print less, or raise its output limit.`
  return new MeanwhileError("limit_exceeded", message, { limitBytes })
}

function toDiskFullError(directory: string): MeanwhileError {
  const message = `The disk that holds ${directory} is full, so the task's output cannot be written. Free some space and run it again.`
  return new MeanwhileError("disk_full", message, { directory })
}

/** True if a write there must fail for lack of space or inodes. */
function isDiskFull(directory: string): boolean {
  const { bfree, bavail, files, ffree } = statfsSync(directory)
  const freeBlocks = process.getuid?.() === 0 ? bfree : bavail
  return freeBlocks === 0 || (files > 0 && ffree === 0)
}
