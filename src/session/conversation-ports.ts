import { MeanwhileError } from "../base/error.ts"
import type { AskingRun, ConversationPorts } from "../plugin/context.ts"
import type { PersonPort } from "../plugin/person-port.ts"
import { createDocumentsPort } from "./saved/documents.ts"
import { createModelPort } from "./conversation/model-call.ts"
import type { AgentScope } from "./scope.ts"
import { createSessionsPort } from "./subagent/sessions-port.ts"

/** The ports of a tool beyond its task: conversations, its own model, the person and documents. */
export function toConversationPorts(scope: AgentScope, run: AskingRun): ConversationPorts {
  const { taskId, session, workspace, signal, traceId } = run
  return {
    sessions: createSessionsPort(scope, { session, workspace, run }),
    get model() {
      const conversation = session && scope.open.get(session)
      if (!conversation)
        throw new MeanwhileError("wrong_state", "This call belongs to no session, and so has no model.")
      return createModelPort(scope, conversation, { signal, task: taskId, traceId })
    },
    person: toPersonPort(scope, run),
    documents: createDocumentsPort(scope, run),
  }
}

/** Questions of background work go to the inbox: nobody waits for it at the prompt. */
function toPersonPort({ ports: { person }, runner }: AgentScope, run: AskingRun): PersonPort {
  return {
    isInbox: () => run.isInBackground(),
    async ask(question, own) {
      const signal = own ? AbortSignal.any([own, run.signal]) : run.signal
      if (await run.isInBackground()) return runner.askPerson(run, question, signal)
      return person.ask(question, signal)
    },
  }
}
