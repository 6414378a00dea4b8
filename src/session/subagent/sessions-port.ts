import { MeanwhileError } from "../../base/error.ts"
import { actFreely, type AskingRun } from "../../plugin/context.ts"
import type { SessionsPort } from "../../plugin/sessions-port.ts"
import { toGivenId } from "../../task/given-id.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import { createChild, type CreateChildScope, reopenChild } from "./child-session.ts"
import { toHandover } from "./handover.ts"
import { type Conversation, NEVER } from "../conversation/conversation.ts"
import { offeredTools } from "../conversation/context.ts"
import { createSessionDirectory, type DirectoryScope } from "../saved/directory.ts"
import type { Using } from "../conversation/scope.ts"

type SessionsPortScope = CreateChildScope & DirectoryScope

export interface PortOwner {
  readonly session: SessionId | null
  readonly workspace: WorkspaceId
  /** The call that asks: the tasks and turns of a child are below it. Null for a person's command. */
  readonly run: AskingRun | null
}

export function createSessionsPort(scope: SessionsPortScope, owner: PortOwner): SessionsPort {
  const here = (): Conversation | undefined => (owner.session ? scope.open.get(owner.session) : undefined)
  const act = owner.run?.act ?? actFreely
  return {
    directory: createSessionDirectory(scope, owner.workspace),
    async createChild(options) {
      const parent = await openParent(scope, owner)
      return act(() => createChild(scope, parent, owner.run, options))
    },
    async openChild(given) {
      const id = toGivenId("session", given, "id")
      const parent = await openParent(scope, owner)
      return act(() => reopenChild(scope, parent, owner.run, id))
    },
    handOver: async (mode) => (mode === "none" ? "" : toHandover(await openParent(scope, owner), mode)),
    offers() {
      const conversation = here()
      const offered = conversation ? offeredTools(scope, conversation) : []
      return offered.map(({ found: { plugin, tool } }) => ({ plugin, tool: tool.name }))
    },
    get newMessage() {
      return here()?.messages.newMessage.signal ?? NEVER
    },
  }
}

/** After a restart a call may go on before anybody has opened its conversation. */
async function openParent(scope: Using<"children" | "open">, { session, workspace }: PortOwner): Promise<Conversation> {
  if (session) return scope.open.get(session) ?? scope.children.bringUp(session, workspace)
  throw new MeanwhileError("wrong_state", "This call belongs to no session, so it cannot start a subagent.")
}
