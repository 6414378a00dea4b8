import { describe, expect, test } from "vitest"
import { answer, answersOf, ask, asker, COLOUR, NAME, nextQuestion, openAsking } from "../support/asking.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"

describe("a question whose asker's process is gone", () => {
  test("is found again by the same run, and is asked once", async () => {
    const folder = createFolder()
    const first = await openAsking(folder)
    const { id } = await ask(first, [NAME, COLOUR])
    const [wait] = await first.questions(1)
    await answer(first, wait, "Otto")
    const colour = await nextQuestion(first, wait)
    first.life.end()
    const second = await openAsking(folder, {}, 2)
    await eventually("it runs again", async () => {
      const task = await second.store.task(id)
      return task?.status === "running" && task.fence === 2
    })
    expect((await second.questions(1))[0]?.id).toBe(colour.id)
    await answer(second, colour, "red")
    expect(await answersOf(second, id)).toEqual(["Otto", "red"])
    expect(await second.store.countTasks({ tool: "question" })).toBe(2)
  })

  test("is withdrawn when that run may not go on", async () => {
    const folder = createFolder()
    const tools = [{ ...asker, onCrash: "fail" as const }]
    const first = await openAsking(folder, { tools })
    const { id } = await ask(first, [NAME])
    await first.questions(1)
    first.life.end()
    const second = await openAsking(folder, { tools }, 2)
    await eventually("the asker is interrupted", async () => (await second.store.task(id))?.status === "interrupted")
    await second.questions(1)
    second.clock.advance(5_000)
    await second.questions(0)
  })
})
