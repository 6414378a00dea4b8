import { expect, test } from "vitest"
import { createTask, RUNNING, sampleWait } from "../../engine/suite/samples.ts"
import type { TaskId } from "../../task/id.ts"
import { createFolder } from "../../../test/support/workplace.ts"
import { openTestEngine } from "../../../test/support/test-engine.ts"
import { ASKED_QUESTION } from "./question-wait.ts"
import { withdrawQuestions } from "./ask-person.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { stopLeftTurns } from "../turn/left-turns.ts"

const COUNT = 100

/** A store with agents at work, each with a waiting task below it, and a count of the rounds in which tasks are read. */
async function openCrowd(toWaiting: () => { kind: "tool" | "turn"; question: object }) {
  const engine = await openTestEngine(createFolder())
  for (let count = 0; count < COUNT; count++) {
    const agent = await createTask(engine, RUNNING, { kind: "agent" })
    const { kind, question } = toWaiting()
    const wait = sampleWait({ question: { ...question } })
    await createTask(engine, { as: "waiting", wait }, { kind, parentTask: agent.id })
  }
  const read = { rounds: 0, underWay: 0 }
  const store = {
    ...engine.store,
    async task(id: TaskId) {
      if (read.underWay === 0) read.rounds += 1
      read.underWay += 1
      const task = await engine.store.task(id)
      read.underWay -= 1
      return task
    },
  }
  const scope = { engine, store, active: new Map() } as unknown as RunnerScope
  return { scope, store, read }
}

test("the askers of many questions are looked up together", async () => {
  const { scope, store, read } = await openCrowd(() => {
    return { kind: "tool", question: { kind: ASKED_QUESTION, asked: { text: "Which?" } } }
  })
  await withdrawQuestions(scope)
  expect(await store.waits({ isOpen: true })).toHaveLength(COUNT)
  expect(read.rounds).toBeLessThan(10)
})

test("the agents of many waiting turns are looked up together", async () => {
  const { scope, store, read } = await openCrowd(() => ({ kind: "turn", question: {} }))
  await stopLeftTurns(scope)
  expect(await store.waits({ isOpen: true })).toHaveLength(COUNT)
  expect(read.rounds).toBeLessThan(10)
})
