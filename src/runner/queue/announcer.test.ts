import { expect, test } from "vitest"
import { systemClock } from "../../base/clock.ts"
import { createWorkerId } from "../../task/id.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { silentLog } from "../redaction/redacting-log.ts"
import { createAnnouncer } from "./announcer.ts"

const MOST_TURNS = 12

/** Lets so many turns of the promise queue pass. */
async function passTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

/** The store answers when it is told to. */
function openAnnouncer() {
  const said: unknown[] = []
  const answers: PromiseWithResolvers<readonly [{ version: number }]>[] = []
  const store = {
    document: async () => undefined,
    commit([{ value }]: readonly [{ value: { leaves?: readonly string[] } }]) {
      said.push(value.leaves)
      const answer = Promise.withResolvers<readonly [{ version: number }]>()
      answers.push(answer)
      return answer.promise
    },
  }
  let leaves: readonly string[] = ["first"]
  const scope = {
    store,
    clock: systemClock,
    log: silentLog,
    worker: { id: createWorkerId() },
    tools: { names: () => new Map([["shell", new Set(["run_command"])]]) },
    config: { maxConcurrentTasks: 1 },
    queue: { takesKinds: ["tool"], own: null, ownTurns: null, takesTurns: false },
    active: { isClosing: false },
  } as unknown as RunnerScope
  const { announce } = createAnnouncer(scope, () => leaves)
  return {
    said,
    announce,
    answer: () => answers.shift()?.resolve([{ version: 1 }]),
    leave: (name: string) => (leaves = [name]),
  }
}

test.each(Array.from({ length: MOST_TURNS }, (_, turns) => turns))(
  "an announcement that is asked for %i turns after the store took the last one is written, too",
  async (turns) => {
    const { said, announce, answer, leave } = openAnnouncer()
    void announce()
    await passTurns(MOST_TURNS)
    answer()
    await passTurns(turns)
    leave("second")
    const told = announce()
    await passTurns(MOST_TURNS)
    expect(said).toEqual([["first"], ["second"]])
    answer()
    await told
  },
)
