import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { constants } from "node:os"
import { accessSync, constants as fileConstants, type Stats, statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"
import type { Clock } from "../../base/clock.ts"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { ProcessRequest } from "../../plugin/process.ts"
import type { Survivor } from "../../task/stop.ts"
import { type Ending, toEnding, noteStart, readFacts, UNKNOWN_ENDING } from "./process-file.ts"
import { type ProcessIdentity, encodeIdentity } from "./identity.ts"
import { toPlace } from "./place.ts"
import { readProcess, mayHaveMarkedSuccessor } from "./table.ts"
import { type ProcessTree, findMembers, type Member, sendSignal, toSurvivor } from "./tree.ts"
import { stopTree } from "./stop-tree.ts"

/** A running command, started here or adopted. */
export interface RunningProcess {
  /** The process file. */
  readonly path: string
  readonly tree: ProcessTree
  /** True if an earlier Meanwhile process started the command. */
  readonly isAdopted: boolean
  /** Resolves when the command has ended. `never_ran`: its wrapper could not claim the right to run it. */
  readonly ended: Promise<Ending | "never_ran">
  /** Lets Meanwhile exit while the command runs. */
  release(): void
}

/** `argv` begins with a path: the shell would take a bare name for a builtin. */
export interface LaunchRequest extends ProcessRequest {
  /** The process file. It must not exist yet; its folder must. */
  readonly path: string
  readonly owner: ProcessIdentity
  readonly outputDescriptor: number
  /** The size of the output file past which the guard stops the command. */
  readonly stopPastBytes: number
  /** `NAME=value`. */
  readonly marker: string
}

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"

/** The grace period of processes that a command left in its group when it ended. */
const LEFT_BEHIND_GRACE_MS = 500

const LONG_AGO_MS = Number.POSITIVE_INFINITY

/** Returns `argv` with the program's full path. Throws if the command could never run. Starts and writes nothing. */
export function resolveProgram(request: ProcessRequest): readonly [string, ...string[]] {
  const [program, ...parameters] = request.argv
  const texts = [...request.argv, request.cwd, ...Object.entries(request.env).flat()]
  if (texts.some((text) => text.includes("\0"))) {
    throw new MeanwhileError(
      "invalid_input",
      "A command, its directory and its environment cannot hold a NUL character.",
    )
  }
  const { cwd } = request
  if (!isAbsolute(cwd) || !look(cwd)?.isDirectory()) {
    const problem = isAbsolute(cwd) ? "does not exist" : "is not an absolute path"
    const message = `The working directory ${cwd} ${problem}. Give the absolute path of a directory that exists.`
    throw new MeanwhileError("invalid_input", message, { cwd })
  }
  const path = findProgram(program, request)
  if (path === undefined) {
    throw new MeanwhileError(
      "invalid_input",
      `The program ${program || "(empty)"} was not found. Check its name and the PATH it is looked up in.`,
      { program, path: request.env["PATH"] ?? DEFAULT_PATH },
    )
  }
  return [path, ...parameters]
}

export async function launchProcess(request: LaunchRequest, clock: Clock): Promise<RunningProcess> {
  const child = spawnWrapper(request)
  if (child.pid === undefined) throw toSpawnError((await once(child, "error"))[0], request)
  const pid = child.pid
  const leaderStartedAt = readProcess(pid)?.startedAt
  const cancelNote = noteStart(request.path, pid, leaderStartedAt, clock)

  return {
    path: request.path,
    tree: { leaderPid: pid, leaderStartedAt, marker: request.marker },
    isAdopted: false,
    ended: new Promise((resolve) => {
      child.once("exit", (status, signal) => {
        cancelNote()
        resolve(status === null ? toWrapperEnding(request.path, pid, signal) : toEnding(status))
      })
    }),
    release: () => child.unref(),
  }
}

export interface ProcessControl {
  /** Stops the process and all it started. */
  readonly signal: AbortSignal
  readonly graceMs: number
}

/** How the command ended, and the processes that live on: left on purpose, or impossible to end. */
export interface Supervised {
  readonly exit: Ending & { readonly survivors: readonly Survivor[] }
  readonly left: readonly Member[]
}

/**
 * Waits for the command, or stops all it started when `signal` aborts. Either way nothing of its group is left, except
 * what could not be ended. A process that moved to a session of its own survives a natural end on purpose, not a stop.
 */
export async function superviseProcess(
  running: RunningProcess,
  { signal, graceMs }: ProcessControl,
  clock: Clock,
): Promise<Supervised | "never_ran"> {
  const startedAt = clock.monotonic()
  const ended = await endedOrAborted(running, signal)
  if (ended === "aborted") {
    const survivors = await stopTree(running.tree, { clock, graceMs })
    const ending = survivors.length === 0 ? await running.ended : UNKNOWN_ENDING
    return toSupervised(ending === "never_ran" ? UNKNOWN_ENDING : ending, survivors)
  }
  if (ended === "never_ran") return "never_ran"
  const ranMs = running.isAdopted ? LONG_AGO_MS : clock.monotonic() - startedAt
  return toSupervised(ended, await clearGroup(running.tree, clock, ranMs))
}

/**
 * Stops the processes left in the group of an ended command, and returns what still lives of its tree. Normally this
 * costs one signal to nobody and a look at the few processes that were started since.
 */
export async function clearGroup(tree: ProcessTree, clock: Clock, ranMs = LONG_AGO_MS): Promise<Member[]> {
  const isGroupEmpty = !sendSignal(-tree.leaderPid, 0)
  const mayHaveOthers = tree.marker !== undefined && mayHaveMarkedSuccessor(tree.leaderPid, tree.marker, ranMs)
  if (isGroupEmpty && !mayHaveOthers) return []
  const isInGroup = (member: Member): boolean => member.groupId === tree.leaderPid
  if (findMembers(tree).some(isInGroup)) await stopTree(tree, { clock, graceMs: LEFT_BEHIND_GRACE_MS }, isInGroup)
  return findMembers(tree)
}

export function toSupervised(ending: Ending, left: readonly Member[]): Supervised {
  return { exit: { ...ending, survivors: left.map(toSurvivor) }, left }
}

function endedOrAborted(running: RunningProcess, signal: AbortSignal): Promise<Ending | "never_ran" | "aborted"> {
  if (signal.aborted) return Promise.resolve("aborted")
  return new Promise((resolve) => {
    const onAbort = (): void => resolve("aborted")
    signal.addEventListener("abort", onAbort, { once: true })
    void running.ended.then((ending) => {
      signal.removeEventListener("abort", onAbort)
      resolve(ending)
    })
  })
}

function spawnWrapper(request: LaunchRequest): ChildProcess {
  const { path, owner, stopPastBytes } = request
  const [name, ...value] = request.marker.split("=")
  const facts = `${stopPastBytes} ${owner.bootId} ${encodeIdentity(owner)} | ${toPlace(path)}`
  try {
    return spawn("/bin/sh", ["-c", SCRIPT, "meanwhile", path, facts, ...withOddNames(request)], {
      cwd: request.cwd,
      env: { ...request.env, [name ?? ""]: value.join("=") },
      detached: true,
      stdio: ["ignore", request.outputDescriptor, "ignore"],
    })
  } catch (error) {
    throw toSpawnError(error, request)
  }
}

/** Some shells drop variables whose names they could not set themselves, so `env` passes those on. */
function withOddNames(request: LaunchRequest): readonly [string, ...string[]] {
  const odd = Object.entries(request.env).filter(([name]) => !/^[A-Za-z_]\w*$/.test(name))
  if (odd.length === 0) return request.argv
  return ["/usr/bin/env", ...odd.map(([name, value]) => `${name}=${value}`), ...request.argv]
}

function toSpawnError(error: unknown, request: LaunchRequest): MeanwhileError {
  const code = (error as NodeJS.ErrnoException).code
  const details = { program: request.argv[0], cwd: request.cwd, cause: code ?? null }
  if (code === "EAGAIN" || code === "EMFILE" || code === "ENFILE" || code === "ENOMEM") {
    const message = "The machine cannot start another process now. End some, or raise its limits, and try again."
    return new MeanwhileError("limit_exceeded", message, details, { cause: error })
  }
  if (code === "E2BIG") {
    const message = "The command is too long for this machine. Write it into a file, and run that."
    return new MeanwhileError("invalid_input", message, details, { cause: error })
  }
  const message = `The command could not be started (${toErrorMessage(error)}). Check its arguments and directory.`
  return new MeanwhileError("invalid_input", message, details, { cause: error })
}

/**
 * The outcome when a signal killed the wrapper. A stop or somebody else sent the signal, or the wrapper itself, because
 * it could not claim the right to run.
 */
function toWrapperEnding(path: string, pid: number, signal: NodeJS.Signals | null): Ending | "never_ran" {
  const claim = readFacts(path)?.claim
  if (typeof claim !== "object" || claim.pid !== pid) return "never_ran"
  return { exitCode: null, signal: signal === null ? null : constants.signals[signal] }
}

/**
 * The shell program between Meanwhile and a command. It does what must also happen when Meanwhile is gone:
 *
 * 1. Claims the right to run by creating the process file, which must not exist. A restart that finds none after a crash
 *    creates it first, and then this command never runs.
 * 2. Runs the command, in this process group, with both of its streams in the output file.
 * 3. Adds to the file how the command ended. The wrapper outlives the signals that a stop sends to the group, to do so.
 *
 * The script uses only builtins, and no variable whose name a command may use: such a variable would be exported to it.
 * The wrapper's own standard error goes nowhere, because the shell prints there which signal ended a child. Only the
 * subshell sends it to the output; the subshell costs 0.1 ms more than a plain call.
 */
const SCRIPT = `trap : HUP INT QUIT TERM USR1 USR2
mw_file=$1 mw_facts=$2
shift 2
set -C
echo "claim $$ $mw_facts" >"$mw_file" || kill -KILL $$
(exec "$@" 2>&1)
mw_facts=$?
echo "exit $mw_facts" >>"$mw_file"
exit $mw_facts`

function findProgram(program: string, request: ProcessRequest): string | undefined {
  if (program === "") return undefined
  if (program.includes("/")) {
    const path = resolve(request.cwd, program)
    return isExecutable(path) ? path : undefined
  }
  return (request.env["PATH"] || DEFAULT_PATH)
    .split(":")
    .map((folder) => join(resolve(request.cwd, folder), program))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  if (!look(path)?.isFile()) return false
  try {
    accessSync(path, fileConstants.X_OK)
    return true
  } catch {
    return false
  }
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
