import type { TurnExpectations } from "./turn-invariants.ts"
import { toCallKey } from "./turn-story.ts"
import { TURN_TOOLS, type TurnToolName } from "./turn-tools.ts"

/** Effects that happened more often than the crashes excuse, or after their step was over. */
export function findRepeated(
  expected: Pick<TurnExpectations, "effects" | "steps" | "story" | "crashes" | "answers">,
): readonly string[] {
  return [...findRepeatedQuestions(expected), ...findRepeatedCalls(expected), ...findLateEffects(expected)]
}

/** Each crash excuses at most one repeated model call. */
function findRepeatedQuestions({
  effects,
  story,
  crashes,
}: Pick<TurnExpectations, "effects" | "story" | "crashes">): readonly string[] {
  const asked = effects.filter((effect) => effect.startsWith(`asked ${story} `))
  const repeated = asked.length - new Set(asked).size
  return repeated > crashes ? [`${repeated} model calls were repeated in ${crashes} crashes: ${asked.join(", ")}`] : []
}

function findRepeatedCalls({
  effects,
  steps,
  crashes,
  answers,
}: Pick<TurnExpectations, "effects" | "steps" | "crashes" | "answers">): readonly string[] {
  const most = { fail: 1, retry: 1 + crashes, ask: 1 + answers }
  return steps.flatMap((tools, step) =>
    tools.flatMap((tool) => {
      const key = toCallKey(step, tool)
      const count = effects.filter((effect) => effect === `did ${key}`).length
      const allowed = most[TURN_TOOLS[tool].onCrash]
      return count > allowed ? [`${key} happened ${count} times, at most ${allowed} are allowed`] : []
    }),
  )
}

/**
 * A tool runs only once the answer that asks for it is durable, and an answer is durable only after everything before it. So
 * after an effect of one step no model call up to that step, and no tool call before it, may happen again. A call that moved
 * to the background is excepted: it is a task of its own.
 */
function findLateEffects({
  effects,
  steps,
  story,
}: Pick<TurnExpectations, "effects" | "steps" | "story">): readonly string[] {
  const problems: string[] = []
  let reached = -1
  for (const effect of effects) {
    const asked = effect.startsWith(`asked ${story} `) ? Number(effect.split(" ").at(-1)) : null
    if (asked !== null && asked <= reached) problems.push(`the answer ${asked} was kept, and asked for again`)
    if (asked !== null) reached = Math.max(reached, asked - 1)
    const did = effect.startsWith("did ") ? toCallPlace(effect.slice("did ".length)) : null
    if (!did || (did.step < reached && TURN_TOOLS[did.tool].isSlow)) continue
    if (did.step < reached) problems.push(`${effect} again, although step ${reached} had begun`)
    if (steps[did.step]?.includes(did.tool)) reached = Math.max(reached, did.step)
  }
  return problems
}

function toCallPlace(key: string): { readonly step: number; readonly tool: TurnToolName } {
  const [step = "", tool = ""] = key.split(".")
  return { step: Number(step), tool: tool as TurnToolName }
}
