import { MeanwhileError } from "../../base/error.ts"
import type { ConversationPorts, ToolContext } from "../../plugin/context.ts"
import type { HasActive, HasPorts, HasStore } from "../run/scope.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { isInBackground } from "../run/is-in-background.ts"
import { isLost } from "../run/ownership.ts"

export type LazyPorts = Pick<ToolContext, "tasks"> & ConversationPorts

/** Made when they are first asked for: most tools never do. */
export function createLazyPorts(scope: HasStore & HasActive & HasPorts, active: ActiveRun): LazyPorts {
  return new RunPorts(scope, active)
}

/** A class: the getters of an object literal would keep every run in memory until the next full garbage collection. */
class RunPorts implements LazyPorts {
  readonly #scope: HasStore & HasActive & HasPorts
  readonly #active: ActiveRun
  #conversation: ConversationPorts | undefined

  constructor(scope: HasStore & HasActive & HasPorts, active: ActiveRun) {
    this.#scope = scope
    this.#active = active
  }

  get tasks() {
    return this.#scope.ports.bindTasks(this.#active)
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

function create(scope: HasStore & HasActive & HasPorts, active: ActiveRun): ConversationPorts {
  if (!scope.ports.conversations) {
    const message =
      "This runner has no conversations: a tool can reach no session, model, person or document through it."
    throw new MeanwhileError("wrong_state", message)
  }
  const { taskId, run, plugin, workspace, session, traceId, askedBy, abort } = active
  return scope.ports.conversations({
    taskId,
    run,
    plugin,
    workspace,
    session,
    traceId,
    askedBy,
    signal: abort.signal,
    limits: active.limits,
    ended: active.ended.promise,
    get usage() {
      return active.usage
    },
    get isRecorded() {
      return active.standing.in === "background" || active.standing.in === "promotion"
    },
    isInBackground: () => isInBackground(scope, taskId),
    get isLeft() {
      return active.isHandedBack || isLost(active) || active.stop?.by === "shutdown"
    },
  })
}
