import { MeanwhileError } from "../../base/error.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { ChildSession, ChildSessionOptions } from "../../plugin/sessions-port.ts"
import { toChildId } from "./child-id.ts"
import { carrySaid, readSaidBefore } from "./carry-steering.ts"
import { takeRoom } from "./child-limits.ts"
import { createChildSession } from "./child-session.ts"
import { toChildTools } from "./child-tools.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { AgentScope } from "../conversation/scope.ts"
import type { Session } from "../conversation/session.ts"

/** A new agent below the parent, or the one that the same call had made before a crash. */
export async function createChild(
  scope: AgentScope,
  parent: Conversation,
  run: AskingRun | null,
  options: ChildSessionOptions,
): Promise<ChildSession> {
  const { log } = parent
  const { workspace } = log
  const before = run ? await readSaidBefore(scope, run) : []
  const id = log.isKept && run && options.key !== undefined ? toChildId(run, options.key) : undefined
  if (id && run && (await scope.store.session(id))) {
    const session = await scope.openSession(id, workspace)
    await scope.agents.keep({ id: run.taskId, workspace }, id)
    return toRetried(scope, before, toChild(scope, session, { run, isFound: true }))
  }
  const model = options.model ?? log.data.model
  const tools = toChildTools(scope, { wanted: options.tools ?? null, parents: log.data.tools, model })
  const giveBack = log.isKept ? null : takeRoom(scope, parent)
  try {
    const session = await scope.createSession({
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

/** What was said to it in the run before is told first. */
async function toRetried(scope: AgentScope, before: readonly string[], child: ChildSession): Promise<ChildSession> {
  const conversation = scope.open.get(child.id)
  if (conversation) await carrySaid(scope, before, conversation)
  return child
}

export function toChild(
  scope: AgentScope,
  session: Session,
  { run, isFound }: { readonly run: AskingRun | null; readonly isFound: boolean },
): ChildSession {
  const conversation = scope.open.get(session.id)
  if (!conversation) throw new MeanwhileError("closed", `The subagent ${session.name} was closed. Start another.`)
  if (run && !conversation.log.isKept) scope.agents.remember(run.taskId, conversation)
  // Something may have been said to it while nobody had it open.
  if (isFound) conversation.hasNews = true
  return createChildSession(scope, { session, conversation, run, isFound })
}
