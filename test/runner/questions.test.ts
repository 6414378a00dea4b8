import { describe, expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import { answer, answersOf, ask, COLOUR, NAME, nextQuestion, openAsking } from "../support/asking.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { createFolder } from "../support/workplace.ts"

describe("a question of a task in the background", () => {
  test("waits in the inbox with all that a person needs, and the asker gets the answer", async () => {
    const life = await openAsking()
    const { id } = await ask(life, [{ ...COLOUR, detail: "of the door" }])
    const [wait] = await life.questions(1)
    const text = "Which colour? One of: red, dark blue. Without an answer: red."
    expect(wait).toMatchObject({ reason: "person", onExpiry: "red", question: { text, detail: "of the door" } })
    expect((await life.runner.get(wait?.taskId ?? "")).task).toMatchObject({
      title: "asks: Which colour?",
      parentTask: id,
    })
    await answer(life, wait, "Dark Blue")
    expect(await answersOf(life, id)).toEqual(["dark blue"])
    const { task } = await life.runner.get(wait?.taskId ?? "")
    expect(task).toMatchObject({ status: "completed", patch: { payload: { isAnswered: true, by: "ada" } } })
  })

  test("gives notice that it needs an answer, and no further notice once it is answered", async () => {
    const life = await openAsking()
    const { id, session } = await ask(life, [NAME])
    const [wait] = await life.questions(1)
    const pending = () => life.store.notices({ session, states: ["pending"] }, 9)
    expect(await pending()).toMatchObject([{ kind: "needs_answer", notify: "next_turn", taskId: wait?.taskId }])
    await answer(life, wait, "Otto")
    await answersOf(life, id)
    expect(await pending()).toMatchObject([{ kind: "ended", taskId: id }])
  })

  test("takes no slot, neither its own nor its asker's", async () => {
    const life = await openAsking(createFolder(), { background: { maxConcurrentTasks: 1 } })
    const { id } = await ask(life, [NAME])
    const [wait] = await life.questions(1)
    const { id: other } = await life.runner.start({ tool: "gated", input: {} })
    await eventually("the other one runs", async () => (await life.store.task(other))?.status === "running")
    await answer(life, wait, "Otto")
    expect(await answersOf(life, id)).toEqual(["Otto"])
    const { id: third } = await life.runner.start({ tool: "echo", input: {} })
    expect((await life.store.task(third))?.status).toBe("queued")
    await life.runner.cancel(other)
    expect((await life.runner.result(third, { waitMs: 1e9 })).task.status).toBe("completed")
  })

  test("uses up nobody's time", async () => {
    const life = await openAsking()
    const { id } = await ask(life, [NAME, NAME], { timeoutMs: 60_000 })
    const [wait] = await life.questions(1)
    life.clock.advance(600_000)
    await answer(life, wait, "Otto")
    const second = await nextQuestion(life, wait)
    life.clock.advance(50_000)
    await answer(life, second, "Anna")
    expect(await answersOf(life, id)).toEqual(["Otto", "Anna"])
  })

  test("uses up nobody's time while it is being written", async () => {
    const life = await openAsking()
    interceptCommits({ engine: life }, async (operations, commit) => {
      const answers = await commit(operations)
      const isQuestion = operations.some((one) => one.op === "task.create" && one.entry.as === "waiting")
      if (isQuestion) life.clock.advance(600_000)
      return answers
    })
    const { id } = await ask(life, [NAME], { timeoutMs: 60_000 })
    const [wait] = await life.questions(1)
    await answer(life, wait, "Otto")
    expect(await answersOf(life, id)).toEqual(["Otto"])
  })

  test.each([["the run itself"], ["a call that it waits for"]])(
    "reaches a person while its worker drains: %s",
    async (who) => {
      const { promise: mayAsk, resolve: letAsk } = Promise.withResolvers<void>()
      const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>()
      const asking = defineTool({
        name: "asking",
        description: "Asks later.",
        input: z.object({}),
        background: { mode: "on_request" },
        async run(_input, { person }) {
          begin()
          await mayAsk
          const said = await person.ask(NAME)
          return said.isAnswered ? said.value : said.reason
        },
      })
      const caller = defineTool({
        name: "caller",
        description: "Waits for a call.",
        input: z.object({}),
        background: { mode: "always" },
        async run(_input, { tasks }) {
          const answer = await tasks.execute({ tool: "asking", input: {} }).answer
          return "patch" in answer ? (answer.patch?.payload ?? null) : answer.outcome
        },
      })
      const folder = createFolder()
      const life = await openAsking(folder, { tools: [asking, caller] })
      const { id } = await life.runner.start({ tool: who === "the run itself" ? "asking" : "caller", input: {} })
      await hasBegun
      const closing = life.runner.close({ drainMs: 60_000 })
      letAsk()
      const [wait] = await life.questions(1)
      await answer(life, wait, "Otto")
      await closing
      expect(await life.store.task(id)).toMatchObject({ status: "completed", patch: { payload: "Otto" } })
    },
  )

  test("the time that the run has left counts again after the answer", async () => {
    const stayer = defineTool({
      name: "stayer",
      description: "Asks, and then never ends by itself.",
      input: z.object({}),
      background: { mode: "always" },
      async run(_input, { person, signal }) {
        await person.ask(NAME)
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))))
      },
    })
    const life = await openAsking(createFolder(), { tools: [stayer] })
    const { id } = await life.runner.start({ tool: "stayer", input: {}, timeoutMs: 60_000 })
    const [wait] = await life.questions(1)
    life.clock.advance(600_000)
    await answer(life, wait, "Otto")
    await eventually("it is stopped at its limit", async () => {
      life.clock.advance(10_000)
      return (await life.store.task(id))?.status === "timed_out"
    })
  })

  test.each([
    [COLOUR, "green", /one of "red", "dark blue"/],
    [COLOUR, { a: 1 }, /one of "red", "dark blue"/],
    [{ kind: "approval", text: "Go on?" } as const, "maybe", /yes or no/],
    [NAME, "", /in words/],
    [
      { kind: "choice", text: "Which?", options: ["red", "blue"], isMultiple: true } as const,
      "red, green",
      /any of "red"/,
    ],
  ])("%j refuses %j as an answer, and stays open", async (question, said, message) => {
    const life = await openAsking()
    await ask(life, [question])
    const [wait] = await life.questions(1)
    const refusal = { code: "invalid_input", message: expect.stringMatching(message) }
    await expect(answer(life, wait, said)).rejects.toMatchObject(refusal)
    await life.questions(1)
  })

  test("is answered once: a later answer is refused", async () => {
    const life = await openAsking()
    const { id } = await ask(life, [{ kind: "approval", text: "Go on?" }])
    const [wait] = await life.questions(1)
    expect(wait?.question).toMatchObject({ options: [true, false] })
    await answer(life, wait, true)
    await expect(answer(life, wait, false)).rejects.toMatchObject({ code: "wrong_state" })
    expect(await answersOf(life, id)).toEqual(["yes"])
  })
})

describe("D8. A background agent that needs an answer does not hang for ever", () => {
  test("the default is taken when the time is over; without a default the agent is told that nobody answered", async () => {
    const life = await openAsking(createFolder(), { background: { questionExpirySeconds: 60 } })
    const { id } = await ask(life, [COLOUR])
    const { id: other } = await ask(life, [NAME])
    await life.questions(2)
    life.clock.advance(59_000)
    await life.questions(2)
    await eventually("they expire", async () => {
      life.clock.advance(1_000)
      return (await life.store.waits({ isOpen: true })).length === 0
    })
    expect(await answersOf(life, id)).toEqual(["red"])
    expect(await answersOf(life, other)).toEqual(["nobody answered in time"])
  })

  test("a question that somebody cancels, or whose asker is cancelled, is withdrawn and told to nobody", async () => {
    const life = await openAsking()
    const first = await ask(life, [NAME])
    const [wait] = await life.questions(1)
    await life.runner.cancel(wait?.taskId ?? "", { reason: "too personal" })
    expect(await answersOf(life, first.id)).toEqual(["the question was withdrawn: too personal"])
    const second = await ask(life, [NAME])
    await life.questions(1)
    await life.runner.cancel(second.id)
    expect(await answersOf(life, second.id)).toBe("cancelled")
    await life.questions(0)
    const pending = await life.store.notices({ states: ["pending"] }, 9)
    expect(pending.map(({ taskId }) => taskId).toSorted()).toEqual([first.id, second.id].toSorted())
  })
})
