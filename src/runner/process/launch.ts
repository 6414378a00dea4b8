import { type ChildProcess, spawn } from "node:child_process"
import { constants } from "node:os"
import type { Clock } from "../../base/clock.ts"
import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { ProcessRequest } from "../../plugin/process.ts"
import { type Ending, toEnding } from "./ending.ts"
import type { ProcessIdentity } from "./identity.ts"
import { noteStart, readFacts } from "./process-file.ts"
import { readProcess } from "./table.ts"
import type { ProcessTree } from "./tree.ts"
import { toWrapperArguments } from "./wrapper.ts"

/** A running command, started here or adopted. */
export interface RunningProcess {
  readonly tree: ProcessTree
  /** It was started by an earlier Meanwhile process. */
  readonly isAdopted: boolean
  /** Resolves when the command has ended. `never_ran`: its wrapper could not claim the right to run it. */
  readonly ended: Promise<Ending | "never_ran">
  /** Lets Meanwhile exit while it runs. */
  release(): void
}

export interface LaunchRequest extends ProcessRequest {
  /** The process file, in a folder that exists. */
  readonly path: string
  readonly owner: ProcessIdentity
  readonly outputDescriptor: number
  readonly stopPastBytes: number
  /** `NAME=value`. */
  readonly marker: string
}

export async function launchProcess(request: LaunchRequest, clock: Clock): Promise<RunningProcess> {
  const child = spawnWrapper(request)
  if (child.pid === undefined) throw await whyNotSpawned(child, request)
  const pid = child.pid
  const leaderStartedAt = readProcess(pid)?.startedAt
  const cancelNote = noteStart(request.path, leaderStartedAt, clock)

  return {
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

function spawnWrapper(request: LaunchRequest): ChildProcess {
  const [name, ...value] = request.marker.split("=")
  const env: Record<string, string> = { ...request.env, [name ?? ""]: value.join("=") }
  try {
    return spawn("/bin/sh", toWrapperArguments({ ...request, argv: withOddNames(request) }), {
      cwd: request.cwd,
      env,
      detached: true,
      stdio: ["ignore", request.outputDescriptor, "ignore"],
    })
  } catch (error) {
    throw toSpawnError(error, request)
  }
}

/** Some shells drop variables whose names they could not have set themselves; `env` hands them on. */
function withOddNames(request: LaunchRequest): readonly [string, ...string[]] {
  const odd = Object.entries(request.env).filter(([name]) => !/^[A-Za-z_]\w*$/.test(name))
  if (odd.length === 0) return request.argv
  return ["/usr/bin/env", ...odd.map(([name, value]) => `${name}=${value}`), ...request.argv]
}

function whyNotSpawned(child: ChildProcess, request: LaunchRequest): Promise<MeanwhileError> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(toSpawnError(error, request)))
  })
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
 * The wrapper was killed by a signal: by a stop, by somebody, or by itself when it could not claim its right to run.
 */
function toWrapperEnding(path: string, pid: number, signal: NodeJS.Signals | null): Ending | "never_ran" {
  const claim = readFacts(path)?.claim
  if (typeof claim !== "object" || claim.pid !== pid) return "never_ran"
  return { exitCode: null, signal: signal === null ? null : constants.signals[signal] }
}
