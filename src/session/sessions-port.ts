import { MeanwhileError } from "../base/error.ts"
import type { ChildSession, SessionsPort } from "../plugin/sessions-port.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import { createSessionDirectory } from "./directory.ts"
import type { AgentScope } from "./scope.ts"

export interface PortOwner {
  readonly session: SessionId | null
  readonly workspace: WorkspaceId
  /** The call that asks: what a child does is below it. */
  readonly taskId: TaskId | null
}

export function createSessionsPort(scope: AgentScope, owner: PortOwner): SessionsPort {
  return {
    directory: createSessionDirectory(scope, owner.workspace),
    async createChild({ name, model, tools, instructions }) {
      const parent = owner.session && scope.open.get(owner.session)
      if (!parent) {
        throw new MeanwhileError("wrong_state", "A subagent needs a session to be below, and this call has none.")
      }
      const session = await scope.createSession({
        name,
        model: model ?? parent.log.data.model,
        parent: parent.log.id,
        workspace: owner.workspace,
        isKept: parent.log.isKept,
        ...(tools ? { tools } : parent.log.data.tools && { tools: parent.log.data.tools }),
        ...(instructions !== undefined && { instructions }),
      })
      const child: ChildSession = {
        id: session.id,
        async send(message, { signal } = {}) {
          const sent = await session.send(message, { parentTask: owner.taskId, ...(signal && { signal }) })
          const { turn, outcome, text, accounting } = sent
          if (outcome === "stopped") throw new MeanwhileError("closed", `The subagent ${name} was stopped.`)
          return { turn, text, usage: accounting.usage }
        },
        close: () => session.close(),
      }
      return child
    },
  }
}
