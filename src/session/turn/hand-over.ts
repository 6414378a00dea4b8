import { userMessage } from "../../plugin/message.ts"
import { toHops } from "../../runner/limits/hops.ts"
import type { LogChange } from "../log/open-turn.ts"
import type { TurnScope } from "./turn-scope.ts"
import { isNothing, keepEnded } from "../results/delivery.ts"
import { readTelling, toTellingText, toTold, useTelling } from "../results/pending-context.ts"

const NO_NEWS: LogChange = { entries: [] }

/**
 * What has happened since the turn began, as a message behind the answers to its calls, written in the same commit. When
 * nothing has happened nothing is read. A turn that is being stopped is told nothing more.
 */
export async function takeNews(scope: TurnScope): Promise<LogChange> {
  const { agents, conversation, turn, hops } = scope
  if (!conversation.hasNews || turn.signal.aborted) return NO_NEWS
  const found = await readTelling(agents, conversation)
  // What a report started is told by the next report, so that reports that follow from one another are counted.
  const delivery = hops > 0 ? keepEnded(found.delivery, ({ task }) => toHops(task.metadata) < hops) : found.delivery
  const telling = await useTelling(agents, conversation, { ...found, delivery })
  if (isNothing(telling.delivery) && telling.said.length === 0) return NO_NEWS
  const message = userMessage(toTellingText(agents, conversation, telling))
  return { entries: [{ kind: "message", message, turn: turn.taskId, said: null }], ...toTold(conversation, telling) }
}
