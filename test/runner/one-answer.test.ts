import { setImmediate as nextTurn } from "node:timers/promises"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { Answer, Execution } from "../../src/plugin/task-service.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { assertProperty } from "../support/assert-property.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const HAPPENINGS = ["end", "failure", "threshold", "promote", "cancel", "deadline"] as const
type Happening = (typeof HAPPENINGS)[number]

/** What passes between two happenings: nothing, a microtask, a turn of the event loop, or a commit. */
const GAPS = {
  none: () => undefined,
  microtask: () => Promise.resolve(),
  turn: () => nextTurn(),
  commit: async () => {
    for (let turn = 0; turn < 4; turn++) await nextTurn()
  },
} satisfies Record<string, () => unknown>
type Gap = keyof typeof GAPS

const story = fc.record({
  happenings: fc.shuffledSubarray([...HAPPENINGS], { minLength: 1 }),
  gaps: fc.array(fc.constantFrom<Gap>("none", "microtask", "turn", "commit"), { minLength: 6, maxLength: 6 }),
  obeys: fc.boolean(),
  watches: fc.boolean(),
})

test("a call has exactly one answer, and its task exactly one end, in whatever order things happen", async () => {
  const clock = createManualClock()
  const obedient = createGatedTool({ name: "obedient", obeys: true })
  const stubborn = createGatedTool({ name: "stubborn" })
  const { meanwhile } = await createWorkplace({ tools: [obedient.tool, stubborn.tool], clock })
  const { tasks, engine } = meanwhile

  async function begin(obeys: boolean, watches: boolean) {
    const gated = obeys ? obedient : stubborn
    const options = watches ? { onOutput: () => {} } : {}
    const execution = tasks.execute({ tool: gated.tool.name, input: {}, timeoutMs: 20_000 }, options)
    const answers: Answer[] = []
    execution.answer.then((answer) => answers.push(answer)).catch(() => {})
    return { execution, answers, call: await gated.call(gated.calls.length) }
  }

  function make(happening: Happening, execution: Execution, call: Awaited<ReturnType<typeof begin>>["call"]): void {
    call.context.output.write("a line\n")
    if (happening === "end") call.finish("done")
    else if (happening === "failure") call.fail(new Error("broken"))
    else if (happening === "promote") void execution.promote()
    else if (happening === "cancel") execution.cancel()
    else clock.advance(10_000)
  }

  await assertProperty(
    fc.asyncProperty(story, async ({ happenings, gaps, obeys, watches }) => {
      const { execution, answers, call } = await begin(obeys, watches)
      for (const [index, happening] of happenings.entries()) {
        make(happening, execution, call)
        await GAPS[gaps[index] ?? "none"]()
      }
      call.finish("at last")
      const answer = await eventually("the answer", async () => {
        clock.advance(2_000)
        await nextTurn()
        return answers[0]
      })
      expect(await execution.promote()).toBe(false)
      if (answer.outcome !== "promoted") {
        await expect(tasks.get(execution.taskId)).rejects.toMatchObject({ code: "not_found" })
      } else {
        await eventually("the end", async () => {
          clock.advance(2_000)
          return isTerminal((await tasks.get(execution.taskId)).task.status)
        })
        const events = await engine.store.events(execution.taskId, 0, 100)
        const ends = events.filter(({ body }) =>
          ["completed", "failed", "cancelled", "timed_out"].includes(body.type.slice(5)),
        )
        expect(ends).toHaveLength(1)
        expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1))
        expect(await engine.store.notices({ taskId: execution.taskId }, 10)).toHaveLength(1)
      }
      expect(answers).toHaveLength(1)
    }),
    { numRuns: 150, endOnFailure: true },
  )
  const after = await Promise.all([1, 2, 3, 4].map(() => tasks.start({ tool: "obedient", input: {} })))
  expect(after.map(({ status }) => status)).toEqual(["running", "running", "running", "running"])
  // On PostgreSQL the stories of this test are thousands of transactions.
}, 60_000)
