import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { ToolContext, ConversationPorts } from "../../plugin/context.ts"
import type { ProcessExit, ProcessRequest } from "../../plugin/process.ts"
import type { TaskService } from "../../plugin/task-service.ts"
import type { ArtifactHash } from "../../task/id.ts"
import type { ArtifactReference } from "../../task/patch.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { toCallKey } from "../run/call-key.ts"
import { commitFor, toClaimedStore } from "../run/claimed-store.ts"
import { act, isLeftBehind, isLost, markLost, toAct } from "../run/ownership.ts"
import { reportProgress, reportUsage } from "../run/run-account.ts"
import { spoolOf } from "../output/deliver-output.ts"
import type { FenceScope, HasActive, HasPorts, HasRedactor, OutputScope, StopScope, HasWorker } from "../run/scope.ts"
import { stopRun } from "../run/stop-run.ts"
import { isInBackground } from "../run/runs-above.ts"
import { reachMilestone } from "./reach-milestone.ts"
import { takeStep } from "./take-step.ts"

/** The ports of one run, made when its tool is called. */
export function createToolContext(scope: OutputScope & HasActive & HasPorts, active: ActiveRun): ToolContext {
  const own: Omit<ToolContext, keyof LazyPorts> = {
    taskId: active.taskId,
    run: active.run,
    callKey: toCallKey(active),
    workspace: active.origin.workspace,
    session: active.origin.session,
    timeoutMs: active.times.limitMs,
    signal: active.control.abort.signal,
    act: toAct(scope, active),
    progress: (update) => reportProgress(scope, active, update),
    milestone: (key, reached) => reachMilestone(scope, active, key, reached),
    spend: (usage, spending) => reportUsage(scope, active, usage, spending),
    output: {
      // Ignored once the run is lost: an error thrown into a stream listener could end this whole process.
      write: (data) => void (isLost(active) || spoolOf(scope, active).write(data)),
      read: (request) => spoolOf(scope, active).read(request),
    },
    processes: { run: (request) => runProcess(scope, active, request) },
    step: (key, effect, options) =>
      takeStep(scope, active, key, effect, options?.onCrash ?? active.call.tool.onCrash ?? "fail"),
    artifacts: { put: (name, mediaType, bytes) => putArtifact(scope, active, name, mediaType, bytes) },
    log: scope.log,
  }
  return Object.assign(new RunPorts(scope, active), own)
}

async function runProcess(
  scope: OutputScope & HasActive,
  active: ActiveRun,
  request: ProcessRequest,
): Promise<ProcessExit> {
  scope.redactor.learn(request.env)
  const control = { signal: active.control.processAbort.signal, graceMs: scope.config.stopGraceSeconds * 1_000 }
  const exit = await act(scope, active, () => spoolOf(scope, active).runProcess(request, control)).catch(
    async (error: unknown) => {
      await loseIfTaken(scope, active, error)
      return stopAtLimit(scope, active, error)
    },
  )
  active.control.survivors.push(...exit.survivors)
  return exit
}

/**
 * The files of a run show that another worker is taking it over before its record does. An end written here would keep
 * that worker from deciding, so the run is marked as lost if the lease is. Without an answer, a later renewal finds out.
 */
async function loseIfTaken({ worker }: HasWorker, active: ActiveRun, error: unknown): Promise<void> {
  if (!isMeanwhileError(error, "stale_claim") || active.standing.in !== "background") return
  const isOurs = await worker.confirm().catch(() => true)
  if (!isOurs) markLost(active)
}

/** If a process was ended for printing too much while Meanwhile was down, its run is stopped by that limit as well. */
async function stopAtLimit(scope: StopScope, active: ActiveRun, error: unknown): Promise<never> {
  if (isMeanwhileError(error, "limit_exceeded") && "limitBytes" in error.details) {
    await stopRun(scope, active, { by: "limit", reason: error.message })
  }
  throw error
}

async function putArtifact(
  scope: FenceScope & HasActive & HasRedactor,
  active: ActiveRun,
  name: string,
  mediaType: string,
  bytes: Uint8Array,
): Promise<ArtifactReference> {
  if (name === "" || mediaType === "")
    throw new MeanwhileError("invalid_input", "An artifact needs a name and a media type.")
  const { workspace } = active.origin
  // A call in the foreground has no record: its turn, or whichever run above it has one, keeps the bytes.
  const toPut = (keeper: ActiveRun | undefined) =>
    [{ op: "artifact.put", workspace, taskId: keeper?.taskId ?? null, mediaType, bytes }] as const
  const [hash] = (await commitFor(scope, active, toPut)) as [ArtifactHash]
  return { hash, name: scope.redactor.redactText(name), mediaType, bytes: bytes.byteLength }
}

type LazyPorts = Pick<ToolContext, "tasks"> & ConversationPorts

/**
 * Ports made when a tool first asks for them, which most tools never do. A class: the getters of an object literal would
 * keep every run in memory until the next full garbage collection.
 */
class RunPorts implements LazyPorts {
  readonly #scope: FenceScope & HasPorts
  readonly #active: ActiveRun
  #tasks: TaskService | undefined
  #conversation: ConversationPorts | undefined

  constructor(scope: FenceScope & HasPorts, active: ActiveRun) {
    this.#scope = scope
    this.#active = active
  }

  get tasks() {
    return (this.#tasks ??= this.#scope.ports.bindTasks(this.#active))
  }

  get sessions() {
    return this.#ports().sessions
  }

  get model() {
    return this.#ports().model
  }

  get person() {
    return this.#ports().person
  }

  get documents() {
    return this.#ports().documents
  }

  #ports(): ConversationPorts {
    return (this.#conversation ??= create(this.#scope, this.#active))
  }
}

function create(scope: FenceScope & HasPorts, active: ActiveRun): ConversationPorts {
  const { portsOf } = scope.ports.conversations
  if (!portsOf) {
    const message =
      "This runner has no conversations: a tool can reach no session, model, person or document through it."
    throw new MeanwhileError("wrong_state", message)
  }
  const { taskId, run, origin, call, control } = active
  const { workspace, session, traceId, askedBy } = origin
  return portsOf({
    taskId,
    run,
    plugin: call.plugin,
    workspace,
    session,
    traceId,
    askedBy,
    signal: control.abort.signal,
    act: toAct(scope, active),
    store: toClaimedStore(scope, active),
    limits: call.limits,
    ended: active.ended.promise,
    get usage() {
      return active.notes.usage
    },
    get isRecorded() {
      return active.standing.in === "background" || active.standing.in === "promotion"
    },
    isInBackground: () => isInBackground(scope, taskId),
    get isLeft() {
      return isLeftBehind(scope, active)
    },
  })
}
