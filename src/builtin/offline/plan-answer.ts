import type { ModelRequest } from "../../plugin/model.ts"
import type { Behaviour } from "./behaviour.ts"
import { hear } from "./heard.ts"
import { createOfferedTools } from "./offered-tools.ts"
import { reportResult } from "./result-report.ts"
import { planAnswers } from "./sentence.ts"
import { isSummaryRequest, quoteConversation } from "./summary.ts"
import { tellNews } from "./task-news.ts"

/** Everything that is decided about one call of the model. Pure: the same request has the same answer. */
export function planAnswer(request: ModelRequest): Behaviour {
  if (isSummaryRequest(request)) return { say: quoteConversation(request.messages) }
  const { results, calls, notices, news, words, answers } = hear(request.messages)
  const reports = [
    ...results.map((result) => reportResult(result, calls.get(result.callId))),
    ...[...notices, ...news].map(tellNews),
  ]
  const isAsked = words !== null && answers !== null
  const planned = isAsked ? planAnswers(words, createOfferedTools(request.tools))[answers] : undefined
  const say = [...reports, ...(planned?.say === undefined ? [] : [planned.say])].join("\n\n")
  if (say === "" && !planned) return { say: "There is nothing new that I could answer." }
  return { ...planned, ...(say !== "" && { say }) }
}
