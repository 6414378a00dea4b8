import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { ChildSession, ChildSessionOptions } from "../../plugin/sessions-port.ts"
import { carrySaid, readSaidBefore } from "../results/steering-messages.ts"
import { reserveChildPlace } from "./child-limits.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { orWarn } from "../conversation/or-warn.ts"
import type { Session } from "../conversation/session.ts"
import { createHash } from "node:crypto"
import type { FoundTool } from "../../plugin/tool-index.ts"
import type { SessionId } from "../../task/id.ts"
import { type ChildOptions, runChild, type RunChildScope } from "./run-child.ts"
import { goOnIfSaid } from "./news.ts"
import { findNearNames } from "../../base/near-name.ts"
import type { Using } from "../conversation/scope.ts"

/** The parts of the scope that a call needs while it holds a subagent. */
type HeldChildScope = RunChildScope & Using<"children" | "open">
export type CreateChildScope = HeldChildScope & Using<"registry" | "tools">

/** Creates an agent below the parent, or finds the agent that the same call created before a crash. */
export async function createChild(
  scope: CreateChildScope,
  parent: Conversation,
  run: AskingRun | null,
  options: ChildSessionOptions,
): Promise<ChildSession> {
  const { log } = parent
  const { workspace } = log
  // Messages to the agent from the run before come first.
  const before = run ? await readSaidBefore(scope, run) : []
  const id = log.isKept && run && options.key !== undefined ? toChildId(run, options.key) : undefined
  if (id && run && (await scope.store.session(id))) {
    const session = await scope.children.open(id, workspace)
    await scope.children.agents.keep({ id: run.taskId, workspace }, id)
    return toChild(scope, session, { run, isFound: true, before })
  }
  const wanted = options.model ?? parent.model.id
  // The parent's model may be an object that no provider knows.
  const model = wanted === parent.model.id ? parent.model : wanted
  const tools = toChildTools(scope, options.tools, log.data.tools, wanted)
  const giveBack = log.isKept ? null : reserveChildPlace(scope, parent)
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
    return await toChild(scope, session, { run, isFound: false, before })
  } finally {
    giveBack?.()
  }
}

/** Reopens the agent of an earlier run of the same task. A call cannot name any other conversation. */
export async function reopenChild(
  scope: HeldChildScope,
  parent: Conversation,
  run: AskingRun | null,
  id: SessionId,
): Promise<ChildSession> {
  const { workspace } = parent.log
  const own = run && (await scope.children.agents.find({ id: run.taskId, workspace }))
  if (own !== id) throw expired(id)
  const session = await (parent.log.isKept ? openKept(scope, parent, id) : openUnkept(scope, parent, id))
  if (!session) throw expired(id)
  return toChild(scope, session, { run, isFound: true })
}

async function openKept(scope: Using<"children">, { log }: Conversation, id: SessionId): Promise<Session | null> {
  try {
    return await scope.children.open(id, log.workspace)
  } catch (error) {
    if (isMeanwhileError(error, "not_found")) return null
    throw error
  }
}

/** Reopens an agent that was put away, conversation included, at the end of the run before. */
async function openUnkept(
  scope: Using<"bus" | "children" | "config" | "open">,
  parent: Conversation,
  id: SessionId,
): Promise<Session | null> {
  const conversation = scope.children.agents.recall(id)
  if (!conversation) return null
  if (scope.open.get(id) !== conversation) {
    const giveBack = reserveChildPlace(scope, parent)
    scope.open.add(conversation)
    giveBack()
    scope.children.onChild(id, parent.log.id)
    const { name } = conversation.log.data
    conversation.emitter.emit({ type: "agent.created", name, parent: parent.log.id, model: conversation.model.id })
  }
  return scope.children.open(id, parent.log.workspace)
}

function expired(session: SessionId): MeanwhileError {
  const message = `The conversation ${session} of this agent no longer exists. Start a new agent, and tell it what it has to know.`
  return new MeanwhileError("expired", message, { session })
}

/** A subagent as the call that asked for it sees it. */
async function toChild(
  scope: HeldChildScope,
  session: Session,
  { run, isFound, before = [] }: Pick<ChildOptions, "run" | "isFound"> & { readonly before?: readonly string[] },
): Promise<ChildSession> {
  const conversation = scope.open.get(session.id)
  if (!conversation) throw new MeanwhileError("closed", `The subagent ${session.name} was closed. Start another.`)
  if (run && !conversation.log.isKept) scope.children.agents.remember(run.taskId, conversation)
  // Somebody may have said something to the agent while no process had it open.
  if (isFound) conversation.hasNews = true
  await carrySaid(scope, before, conversation)
  return {
    id: session.id,
    send: (message, sending = {}) => runChild(scope, { session, conversation, run, isFound }, message, sending),
    async close() {
      // The lease is looked at first: others may have the call, and go on with the agent.
      await run?.act(() => {}).catch(() => {})
      if (run?.isLeft) return
      if (run?.isRecorded) void goOnIfSaid(scope, conversation, run)
      else if (run) scope.children.agents.forget(run.taskId)
      // The answer is worth more than a clean close, so an error is only logged.
      await orWarn(scope, "a subagent could not be closed", { session: session.id }, () => session.close())
    },
  }
}

/** The same id for the same call of a turn, also if it is made again after a crash; another id for every run of its task. */
function toChildId({ taskId, run, askedBy }: AskingRun, key: string): SessionId {
  const asked = askedBy ? [askedBy.taskId, askedBy.run, askedBy.key] : [taskId]
  const hash = createHash("sha256")
    .update(JSON.stringify([...asked, run, key]))
    .digest("hex")
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5") as SessionId
}

/**
 * The tools of a child: never more than its parent has. `wanted` names tools or plugins; unknown names are refused, and
 * undefined means all tools of the parent. A result of null means all tools.
 */
function toChildTools(
  scope: Using<"registry" | "tools">,
  wanted: readonly string[] | undefined,
  parents: readonly string[] | null,
  model: string,
): readonly string[] | null {
  if (wanted === undefined) return parents
  requireKnown(scope, wanted)
  if (parents === null) return wanted
  const offersOf = (tools: readonly string[]) => scope.tools.offers({ tools, model, isBelow: false })
  const allowed = new Set(offersOf(parents).map(({ found }) => found))
  const named = [...allowed].filter(({ tool, plugin }) => wanted.includes(tool.name) || wanted.includes(plugin))
  // A name may also be that of a plugin or of another plugin's tool: every tool that it would offer must be the parent's
  // too.
  return named.map(toName).filter((name) => offersOf([name]).every(({ found }) => allowed.has(found)))
}

/** No other plugin can have a tool of the name that a private one gets. */
function toName({ tool, plugin, owner }: FoundTool): string {
  return owner.isPrivate ? `${plugin}/${tool.name}` : tool.name
}

function requireKnown({ registry }: Using<"registry">, wanted: readonly string[]): void {
  const known = new Set(registry.tools().flatMap(({ tool, plugin }) => [tool.name, plugin]))
  const unknown = wanted.filter((name) => !known.has(name))
  if (unknown.length === 0) return
  const near = unknown.flatMap((name) => findNearNames(name, known))
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : "Name tools, or plugins for all of theirs."
  const names = unknown.join(", ")
  throw new MeanwhileError(
    "unknown_tool",
    `A subagent cannot have these tools, because they do not exist: ${names}. ${hint}`,
    {
      near,
    },
  )
}
