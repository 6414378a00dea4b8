import { closeSync, openSync, statfsSync } from "node:fs"
import { join, dirname } from "node:path"
import type { Clock } from "../../base/clock.ts"
import type { Act } from "../../plugin/context.ts"
import type { ProcessRequest } from "../../plugin/process.ts"
import type { Survivor } from "../../task/stop.ts"
import { MeanwhileError } from "../../base/error.ts"
import { whenAborted } from "../../base/when-aborted.ts"
import { adoptProcess } from "../process/adopt.ts"
import { noteUntil, UNKNOWN_ENDING, readFacts } from "../process/process-file.ts"
import type { Guard } from "../process/guard.ts"
import { encodeIdentity, type ProcessIdentity } from "../process/identity.ts"
import {
  launchProcess,
  type ProcessControl,
  type RunningProcess,
  clearGroup,
  type Supervised,
  superviseProcess,
  toSupervised,
  resolveProgram,
} from "../process/command.ts"
import { stopTree } from "../process/stop-tree.ts"
import { isStillAlive } from "../process/table.ts"
import { type Member, type ProcessTree, toSurvivor } from "../process/tree.ts"
import {
  type FoundProcess,
  findProcesses,
  forbidProcesses,
  type Launch,
  listLaunches,
  listProcessNames,
} from "./found-processes.ts"
import { FILE_MODE, type RunPaths, toProcessName } from "./run-paths.ts"

/** All commands of a run had ended when a restart looked. */
export interface FoundEnd {
  /** When the last one ended, in wall time. */
  readonly atMs: number
  /** True if they ended by themselves: no time limit can be over any more. */
  readonly isInTime: boolean
}

/** The processes of a run that a restart found. `never_ran`: none ran, and none will. */
export type Reattachment = "never_ran" | "reattachable" | "lost"

/** How long a command that the guard stopped for its time limit waits for the run's own deadline, which is over too. */
const LATE_PATIENCE_MS = 10_000

export interface RunProcessesOptions {
  readonly paths: RunPaths
  readonly clock: Clock
  readonly owner: ProcessIdentity
  readonly guard: Guard
  /** The size of the output file past which the guard stops a process. */
  readonly stopPastBytes: number
  /**
   * `NAME=value`: the environment variable that the run's processes and all they start carry. Each process adds its
   * number at the end.
   */
  readonly marker: string
  /** The file that the processes print to. */
  readonly outputPath: () => string
  /** Resolves when the output file exists and holds all that was written before. */
  readonly prepareOutput: () => Promise<void> | undefined
  readonly onStarted: () => void
  /** Every launch begins in it. */
  readonly act: Act
}

/** The processes of one run: the n-th call of `run` is the n-th process, in this Meanwhile process or a later one. */
export function createRunProcesses(options: RunProcessesOptions) {
  const { paths, clock, stopPastBytes, marker: runMarker } = options
  const live = new Set<RunningProcess>()
  /** Trees whose command has ended and that still have living members, left on purpose. */
  const lingering = new Map<ProcessTree, readonly Member[]>()
  let found = new Map<number, FoundProcess>()
  /** Names of the process files that this owner or an earlier one left. */
  let known = new Set<string>()
  let launches: ReadonlyMap<number, Launch> = new Map()
  let count = 0

  async function supervise(running: RunningProcess, control: ProcessControl): Promise<Supervised | "never_ran"> {
    live.add(running)
    options.onStarted()
    try {
      const supervised = await superviseProcess(running, control, clock)
      if (supervised !== "never_ran" && supervised.left.length > 0) lingering.set(running.tree, supervised.left)
      return supervised
    } finally {
      live.delete(running)
    }
  }

  async function start(request: ProcessRequest, control: ProcessControl, name: string, number: number) {
    const argv = resolveProgram(request)
    if (control.signal.aborted) return toSupervised(UNKNOWN_ENDING, [])
    const path = join(paths.directory, name)
    const named = { ...request, argv, path, marker: `${runMarker}/${number}` }
    const running = await launch(options, named, control.signal, known)
    if (running === "stopped") return toSupervised(UNKNOWN_ENDING, [])
    const supervised = await supervise(running, control)
    if (supervised === "never_ran") throw toClaimError(path)
    requireSpace(paths, supervised.exit)
    return supervised
  }

  /** Adopts a process of an earlier Meanwhile process as if it had been started here. */
  async function resume(process: FoundProcess, control: ProcessControl): Promise<Supervised | "never_ran"> {
    if (process.state === "alive") return supervise(adoptProcess(process.path, process.tree, clock), control)
    if (process.state === "never_ran") return "never_ran"
    const left = process.tree ? await clearGroup(process.tree, clock) : []
    if (process.state === "ended" && process.wasOverLimit) throw toOverLimitError(stopPastBytes)
    if (process.state === "ended" && process.wasLate)
      await whenAborted(AbortSignal.any([control.signal, AbortSignal.timeout(LATE_PATIENCE_MS)]))
    return toSupervised(process.state === "ended" ? process.ending : UNKNOWN_ENDING, left)
  }

  /** The process trees of the commands that have not ended, adopted commands included. */
  function runningTrees(): readonly ProcessTree[] {
    const adopted = [...found.values()].flatMap((process) => (process.state === "alive" ? [process.tree] : []))
    return [...Array.from(live, ({ tree }) => tree), ...adopted]
  }

  async function stopEach(graceMs: number): Promise<readonly Survivor[]> {
    // Includes the rest of an ended command's tree: the process that stopped the command may have died before the rest.
    const left = [...found.values()].flatMap(({ tree }) => tree ?? [])
    const stops = [...Array.from(live, ({ tree }) => tree), ...left].map((tree) => stopTree(tree, { clock, graceMs }))
    return (await Promise.all(stops)).flat().map(toSurvivor)
  }

  /** Counts calls from the first again, also in a process that lost the run and takes it over again. */
  function beginAnew(): void {
    count = 0
    found = new Map()
    known = new Set(listProcessNames(paths))
    launches = listLaunches(paths.directory)
  }

  /** Stops what runs even where nothing can be forbidden. Then it rejects, and the next call looks again. */
  async function forbidAndStop(graceMs: number): Promise<readonly Survivor[]> {
    const forbidding = Promise.try(forbidProcesses, paths, runMarker)
    await forbidding.catch(() => undefined)
    found = await findProcesses(paths, runMarker, clock)
    const survivors = await stopEach(graceMs)
    await forbidding.catch(() => found.clear())
    return forbidding.then(() => survivors)
  }

  return {
    async run(request: ProcessRequest, control: ProcessControl): Promise<Supervised["exit"]> {
      const number = ++count
      const earlier = found.get(number)
      const resumed = earlier && (await resume(earlier, control))
      found.delete(number)
      if (resumed && resumed !== "never_ran") return resumed.exit
      const name = toProcessName(number, (launches.get(number)?.launch ?? 0) + 1)
      return (await start(request, control, name, number)).exit
    },
    /** For use once the processes of earlier claims have ended or are forbidden: every command is then launched again. */
    beginAnew,
    async reattach(): Promise<Reattachment> {
      forbidProcesses(paths, runMarker)
      beginAnew()
      found = await findProcesses(paths, runMarker, clock)
      const states = new Set([...found.values()].map(({ state }) => state))
      if (states.has("lost")) return "lost"
      return states.has("ended") || states.has("alive") ? "reattachable" : "never_ran"
    },
    foundEnd: (): FoundEnd | undefined => toFoundEnd([...found.values()]),
    stopAll: (graceMs: number): Promise<readonly Survivor[]> =>
      found.size === 0 && count === 0 ? forbidAndStop(graceMs) : stopEach(graceMs),
    /** Everything that may still write to the output. */
    trees(): readonly ProcessTree[] {
      for (const [tree, members] of lingering) {
        if (!members.some(isStillAlive)) lingering.delete(tree)
      }
      return [...runningTrees(), ...lingering.keys()]
    },
    /** Leaves a time limit to the guard: this process closes, and its commands go on. */
    leaveUntil(wallMs: number | null): void {
      for (const { path } of live) noteUntil(path, wallMs)
    },
    pids: (): readonly number[] => [...new Set(runningTrees().map(({ leaderPid }) => leaderPid))],
    /** Lets Meanwhile exit while the processes run. */
    release(): void {
      for (const process of live) process.release()
    },
  }
}

/** A command, its process file and its marker. */
interface NamedRequest extends ProcessRequest {
  readonly path: string
  readonly marker: string
}

function toFoundEnd(found: readonly FoundProcess[]): FoundEnd | undefined {
  const ran = found.filter(({ state }) => state !== "never_ran")
  const ended = ran.filter((process) => process.state === "ended")
  if (ended.length === 0 || ended.length < ran.length) return undefined
  return {
    atMs: Math.max(...ended.map(({ endedAtMs }) => endedAtMs)),
    isInTime: !ended.some(({ wasLate }) => wasLate),
  }
}

/** A stop that comes before the spawn starts nothing. One that comes later finds the process. */
async function launch(
  options: RunProcessesOptions,
  request: NamedRequest,
  signal: AbortSignal,
  known: Set<string>,
): Promise<RunningProcess | "stopped"> {
  try {
    await options.prepareOutput()
    options.guard.ensure()
    return await options.act<RunningProcess | "stopped">(() => {
      if (signal.aborted) return "stopped"
      requireNoSuccessor(options.paths, options.owner, known)
      return spawnCommand(options, request)
    })
  } catch (error) {
    if (signal.aborted) return "stopped"
    throw error
  }
}

/** Contract: the process exists when this returns its promise. */
async function spawnCommand(
  { outputPath, owner, stopPastBytes, clock }: RunProcessesOptions,
  request: NamedRequest,
): Promise<RunningProcess> {
  const outputDescriptor = openSync(outputPath(), "a", FILE_MODE)
  try {
    return await launchProcess({ ...request, owner, outputDescriptor, stopPastBytes }, clock)
  } finally {
    closeSync(outputDescriptor)
  }
}

/**
 * Throws if another Meanwhile process has taken the run over, which this one cannot know if it was suspended. The files
 * tell: the other process has forbidden a process here, or started one of its own.
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
 * A command that failed while the disk is full counts as failed for lack of space: its own writes return the error to it
 * and not to us. A command that succeeded did not need the space.
 */
function requireSpace(paths: RunPaths, exit: Supervised["exit"]): void {
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
  const message = `The command printed more than ${limitBytes} bytes while Meanwhile was not running, so it was stopped. Make it print less, or raise its output limit.`
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
