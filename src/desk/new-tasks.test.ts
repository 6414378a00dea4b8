import { expect, onTestFinished, test } from "vitest"
import { systemClock } from "../base/clock.ts"
import { applyEvents, COMPLETED, createTask, STARTED } from "../engine/suite/samples.ts"
import { createFolder } from "../../test/support/workplace.ts"
import { openTestEngine } from "../../test/support/test-engine.ts"
import { followNewTasks } from "./new-tasks.ts"

test("a task that has ended before it was read is told of, whatever the clock here says", async () => {
  const clock = { ...systemClock, now: () => Date.now() - 60_000 }
  const engine = await openTestEngine(createFolder(), { clock })
  const told = Promise.withResolvers<string>()
  const store = {
    ...engine.store,
    async task(id: Parameters<typeof engine.store.task>[0]) {
      await ended.promise
      return engine.store.task(id)
    },
  }
  const ended = Promise.withResolvers<void>()
  onTestFinished(
    followNewTasks(
      { ...engine, store },
      async () => true,
      ({ status }) => told.resolve(status),
    ),
  )
  const { id } = await createTask(engine)
  await applyEvents(engine, id, STARTED, COMPLETED)
  ended.resolve()
  expect(await told.promise).toBe("completed")
})
