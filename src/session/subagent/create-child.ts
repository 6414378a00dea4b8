import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { ChildSession, ChildSessionOptions } from "../../plugin/sessions-port.ts"
import { carrySaid, readSaidBefore } from "./carry-steering.ts"
import { takeRoom } from "./child-limits.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Session } from "../conversation/session.ts"
import { createHash } from "node:crypto"
import type { SessionId } from "../../task/id.ts"
import { type ChildOptions, runChild, type RunChildScope } from "./run-child.ts"
import { goOnIfSaid } from "./news.ts"
import { findNearNames } from "../../base/near-name.ts"
import type { Using } from "../conversation/scope.ts"

/** For a subagent that the call which asked for it holds. */
export type HeldChildScope = RunChildScope & Using<"children" | "open">
export type CreateChildScope = HeldChildScope & Using<"registry" | "tools">

/** A new agent below the parent, or the one that the same call had made before a crash. */
export async function createChild(
  scope: CreateChildScope,
  parent: Conversation,
  run: AskingRun | null,
  options: ChildSessionOptions,
): Promise<ChildSession> {
  const { log } = parent
  const { workspace } = log
  const before = run ? await readSaidBefore(scope, run) : []
  const id = log.isKept && run && options.key !== undefined ? toChildId(run, options.key) : undefined
  if (id && run && (await scope.store.session(id))) {
    const session = await scope.children.open(id, workspace)
    await scope.children.agents.keep({ id: run.taskId, workspace }, id)
    return toRetried(scope, before, toChild(scope, session, { run, isFound: true }))
  }
  const model = options.model ?? log.data.model
  const tools = toChildTools(scope, { wanted: options.tools ?? null, parents: log.data.tools, model })
  const giveBack = log.isKept ? null : takeRoom(scope, parent)
  try {
    const session = await scope.children.create({
      name: options.name,
      model,
      parent: log.id,
      workspace,
      ...(id && { id }),
      ...(tools && { tools }),
      ...(options.instructions !== undefined && { instructions: options.instructions }),
    })
    return await toRetried(scope, before, toChild(scope, session, { run, isFound: false }))
  } finally {
    giveBack?.()
  }
}

/** Messages to the agent in the run before come first. */
async function toRetried(
  scope: Using<"open" | "store">,
  before: readonly string[],
  child: ChildSession,
): Promise<ChildSession> {
  const conversation = scope.open.get(child.id)
  if (conversation) await carrySaid(scope, before, conversation)
  return child
}

export function toChild(
  scope: HeldChildScope,
  session: Session,
  { run, isFound }: { readonly run: AskingRun | null; readonly isFound: boolean },
): ChildSession {
  const conversation = scope.open.get(session.id)
  if (!conversation) throw new MeanwhileError("closed", `The subagent ${session.name} was closed. Start another.`)
  if (run && !conversation.log.isKept) scope.children.agents.remember(run.taskId, conversation)
  // Something may have been said to it while nobody had it open.
  if (isFound) conversation.hasNews = true
  return createChildSession(scope, { session, conversation, run, isFound })
}

/** The same for the same call of a turn, also when it is made again after a crash; another for every run of its task. */
function toChildId({ taskId, run, askedBy }: AskingRun, key: string): SessionId {
  const asked = askedBy ? [askedBy.taskId, askedBy.run, askedBy.key] : [taskId]
  const hash = createHash("sha256")
    .update(JSON.stringify([...asked, run, key]))
    .digest("hex")
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5") as SessionId
}

/** A subagent as the call that asked for it sees it. */
function createChildSession(scope: HeldChildScope, options: ChildOptions): ChildSession {
  const { session, conversation, run } = options
  return {
    id: session.id,
    send: (message, sending = {}) => runChild(scope, options, message, sending),
    async close() {
      if (run?.isLeft) return
      if (run?.isRecorded) void goOnIfSaid(scope, conversation, run)
      else if (run) scope.children.agents.forget(run.taskId)
      try {
        await session.close()
      } catch (error) {
        // The answer is worth more than a clean close.
        scope.log.warn("a subagent could not be closed", { session: session.id, error: toErrorMessage(error) })
      }
    },
  }
}

interface ChildToolChoice {
  /** Names of tools or of plugins; null: all the parent has. */
  readonly wanted: readonly string[] | null
  /** The parent's tools; null: all. */
  readonly parents: readonly string[] | null
  /** The child's. */
  readonly model: string
}

/** The tools of a child: never more than its parent has. Names that nobody knows are refused. */
function toChildTools(scope: Using<"registry" | "tools">, choice: ChildToolChoice): readonly string[] | null {
  const { wanted, parents, model } = choice
  if (wanted === null) return parents
  requireKnown(scope, wanted)
  if (parents === null) return wanted
  const allowed = new Set(scope.tools.offers({ tools: parents, model, isBelow: false }).map(({ found }) => found))
  const named = [...allowed].filter(({ tool, plugin }) => wanted.includes(tool.name) || wanted.includes(plugin))
  // A name may also be that of a plugin, or of another plugin's tool: what it would offer must be the parent's too.
  return named
    .map(({ tool }) => tool.name)
    .filter((name) =>
      scope.tools.offers({ tools: [name], model, isBelow: false }).every(({ found }) => allowed.has(found)),
    )
}

function requireKnown({ registry }: Using<"registry">, wanted: readonly string[]): void {
  const known = new Set(registry.tools().flatMap(({ tool, plugin }) => [tool.name, plugin]))
  const unknown = wanted.filter((name) => !known.has(name))
  if (unknown.length === 0) return
  const near = unknown.flatMap((name) => findNearNames(name, known))
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : "Name tools, or plugins for all of theirs."
  const names = unknown.join(", ")
  throw new MeanwhileError("unknown_tool", `A subagent was to have tools that do not exist: ${names}. ${hint}`, {
    near,
  })
}
