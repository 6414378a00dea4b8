import type { Message } from "../../plugin/message.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { quoteTitle } from "./quoted-text.ts"
import type { Using } from "../conversation/scope.ts"
import { WORK_KINDS } from "../../task/record.ts"

const MOST_TASKS = 50
/** Providers ignore metadata that is not theirs. */
const MARK = "meanwhile"

/** Adds the live tasks to a collected history, so that the model does not forget them. An older roster is removed. */
export async function withRoster(
  { store }: Using<"store">,
  { log, hasTasks }: Conversation,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  const others = messages.filter((message) => !isRoster(message))
  if (!hasTasks) return others
  const { id: session, workspace } = log
  const filter = { workspace, session, statuses: LIVE_STATUSES, kinds: WORK_KINDS } as const
  const { items, cursor } = await store.tasks(filter, { limit: MOST_TASKS })
  if (items.length === 0) return others
  const lines = items.map(({ id, title, status }) => `- task ${id} (${quoteTitle(title)}): ${status}`)
  const text = [
    "[Meanwhile: tasks of this conversation that still run. What they come to is told by itself.]",
    ...lines,
    ...(cursor ? ["- and more"] : []),
    "[End of the list.]",
  ].join("\n")
  const roster: Message = { role: "user", parts: [{ type: "text", text, metadata: { [MARK]: { roster: true } } }] }
  // The model answers the last message: a person's words stay there.
  const last = others.at(-1)
  return last?.role === "user" ? [...others.slice(0, -1), roster, last] : [...others, roster]
}

function isRoster({ role, parts }: Message): boolean {
  const [part] = role === "user" ? parts : []
  const mark = part?.metadata?.[MARK]
  return typeof mark === "object" && mark !== null && "roster" in mark
}
