import { expect, test } from "vitest"
import { toStoppedTurn, toTurnStop } from "./conversation.ts"

type Turn = ReturnType<Parameters<typeof toTurnStop>[0]["turns"]>[number]

function createTurn(outcome: Turn["outcome"]): Turn {
  const turn = crypto.randomUUID() as NonNullable<Turn["turn"]>
  const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 }
  const counts = { modelCalls: 1, toolCalls: 0, durationMs: 1, usage, costMicros: null }
  return { turn, outcome, model: "offline/rules", ...counts }
}

test("a stop whose turn has not begun is not matched to an earlier stopped turn", () => {
  const turns = [createTurn("stopped")]
  const stop = toTurnStop({ turns: () => turns })
  expect(toStoppedTurn(stop)).toBeNull()
  const now = createTurn("stopped")
  turns.push(now)
  expect(toStoppedTurn(stop)).toBe(now.turn)
})

test("a turn that reached its answer in spite of a stop does not count as stopped", () => {
  const turns: Turn[] = []
  const stop = toTurnStop({ turns: () => turns })
  turns.push(createTurn("completed"))
  expect(toStoppedTurn(stop)).toBeNull()
})
