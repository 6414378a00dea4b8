import { MeanwhileError } from "../base/error.ts"
import type { AskingRun, ConversationPorts } from "../plugin/context.ts"
import type { PersonPort } from "../plugin/person-port.ts"
import { createDocumentsPort } from "./saved/documents.ts"
import { createModelPort } from "./conversation/model-port.ts"
import type { AgentScope } from "./scope.ts"
import { createSessionsPort } from "./subagent/sessions-port.ts"

/** What a tool reaches beyond its task: the conversations, its own model, and whoever is there. */
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

/** Whoever is there does not wait for what runs in the background: its questions go to the inbox. */
function toPersonPort({ person, runner }: AgentScope, run: AskingRun): PersonPort {
  return {
    isInbox: () => run.isInBackground(),
    async ask(question, own) {
      const signal = own ? AbortSignal.any([own, run.signal]) : run.signal
      if (await run.isInBackground()) return runner.askPerson(run, question, signal)
      return person.ask(question, signal)
    },
  }
}
