import { expect, test } from "vitest"
import { toStoppedTurn, toTurnStop } from "./conversation.ts"

type Turn = ReturnType<Parameters<typeof toTurnStop>[0]["turns"]>[number]

function createTurn(outcome: Turn["outcome"]): Turn {
  const turn = crypto.randomUUID() as NonNullable<Turn["turn"]>
  const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 }
  const counts = { modelCalls: 1, toolCalls: 0, durationMs: 1, usage, costMicros: null }
  return { turn, outcome, model: "offline/rules", ...counts }
}

test("a turn that was stopped before is not taken for the one that is stopped now and has not begun", () => {
  const turns = [createTurn("stopped")]
  const stop = toTurnStop({ turns: () => turns })
  expect(toStoppedTurn(stop)).toBeNull()
  const now = createTurn("stopped")
  turns.push(now)
  expect(toStoppedTurn(stop)).toBe(now.turn)
})

test("a turn that came to its answer all the same was not stopped", () => {
  const turns: Turn[] = []
  const stop = toTurnStop({ turns: () => turns })
  turns.push(createTurn("completed"))
  expect(toStoppedTurn(stop)).toBeNull()
})
