import { MeanwhileError } from "../base/error.ts"
import type { AskingRun } from "../plugin/context.ts"
import type { SessionsPort } from "../plugin/sessions-port.ts"
import type { SessionId, WorkspaceId } from "../task/id.ts"
import { toChildId } from "./child-id.ts"
import { takeRoom } from "./child-room.ts"
import { createChildSession } from "./child-session.ts"
import { toChildTools } from "./child-tools.ts"
import type { Conversation } from "./conversation.ts"
import { createSessionDirectory } from "./directory.ts"
import type { AgentScope } from "./scope.ts"

export interface PortOwner {
  readonly session: SessionId | null
  readonly workspace: WorkspaceId
  /** The call that asks: what a child does is below it. Null for a person's command. */
  readonly run: AskingRun | null
}

export function createSessionsPort(scope: AgentScope, owner: PortOwner): SessionsPort {
  const { workspace, run } = owner
  return {
    directory: createSessionDirectory(scope, workspace),
    async createChild({ key, name, model, tools, instructions }) {
      const parent = await openParent(scope, owner)
      const { log } = parent
      const id = log.isKept && run && key !== undefined ? toChildId(run, key) : undefined
      if (id && (await scope.store.session(id))) {
        return createChildSession(scope, { session: await scope.openSession(id, workspace), run, isFound: true })
      }
      const ownModel = model ?? log.data.model
      const choice = { wanted: tools ?? null, parents: log.data.tools, model: ownModel }
      const ownTools = toChildTools(scope, choice)
      const giveBack = log.isKept ? null : takeRoom(scope, parent)
      try {
        const session = await scope.createSession({
          name,
          model: ownModel,
          parent: log.id,
          workspace,
          isKept: log.isKept,
          ...(id && { id }),
          ...(ownTools && { tools: ownTools }),
          ...(instructions !== undefined && { instructions }),
        })
        return createChildSession(scope, { session, run, isFound: false })
      } finally {
        giveBack?.()
      }
    },
  }
}

/** After a restart a call may go on before anybody has opened its conversation. */
async function openParent(scope: AgentScope, { session, workspace }: PortOwner): Promise<Conversation> {
  if (session && !scope.open.has(session)) await scope.openSession(session, workspace)
  const parent = session && scope.open.get(session)
  if (parent) return parent
  throw new MeanwhileError("wrong_state", "A subagent needs a session to be below, and this call has none.")
}
