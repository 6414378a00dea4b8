import { expect, test } from "vitest"
import { textOf } from "../../src/plugin/message.ts"
import type { ModelRequest } from "../../src/plugin/model.ts"
import { toSaidCollection } from "../../src/session/log/settle-operations.ts"
import type { Operation } from "../../src/task/operation.ts"
import type { CommitOptions } from "../../src/task/store.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createGate } from "../support/session/gate.ts"
import { PLACES } from "../support/session/open-agent.ts"
import { openSubagents, requestsOf } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

const lastOf = (request: ModelRequest | undefined): string => {
  const last = request?.messages.at(-1)
  return last ? textOf(last) : ""
}

for (const [where, isKept] of PLACES) {
  test(`what is said to a running agent reaches it at its next tool boundary (${where})`, async () => {
    const gated = createGatedTool()
    const opened = await openSubagents({
      isKept,
      main: [],
      tools: [gated.tool],
      below: [{ calls: [{ tool: "gated" }] }, "Mended, the clock first."],
    })
    const { runtime, provider } = opened
    const { id } = await startAgent(opened)
    const call = await gated.call(1)
    expect(await runtime.tasks.say(id, "Mend the clock first.")).toMatchObject({ how: "steered", task: { id } })
    call.finish("gated has ended")
    expect(await endOf(opened, { id })).toMatchObject({ status: "completed", run: 1, resumeCount: 0 })
    const [, second] = requestsOf(provider, "below")
    expect(lastOf(second)).toContain("Mend the clock first.")
    expect(second?.messages.at(-2)?.role).toBe("tool")
    expect(requestsOf(provider, "below")).toHaveLength(2)
  })

  test(`what is said while an agent gives its last answer is a turn of its own (${where})`, async () => {
    const gate = createGate()
    const opened = await openSubagents({
      isKept,
      main: [],
      below: [() => ({ gate: gate.pass(), text: "Done." }), "Done, and the clock, too."],
    })
    const { id } = await startAgent(opened)
    await gate.reached
    await opened.runtime.tasks.say(id, "And mend the clock.")
    gate.open()
    expect(await endOf(opened, { id })).toMatchObject({
      run: 1,
      patch: { payload: { answer: "Done, and the clock, too.", usage: { inputTokens: 20 } } },
    })
    expect(lastOf(requestsOf(opened.provider, "below")[1])).toContain("And mend the clock.")
  })

  test(`what is said to an agent that waits for its tasks wakes it (${where})`, async () => {
    const gated = createGatedTool({ background: { mode: "always" } })
    const opened = await openSubagents({
      isKept,
      main: [],
      tools: [gated.tool],
      below: [{ calls: [{ tool: "gated" }] }, "I wait for it.", "Never mind it, then.", "All done."],
    })
    const { runtime, provider } = opened
    const { id } = await startAgent(opened)
    await eventually("it waits for its task", async () => {
      const { task } = await runtime.tasks.get(id)
      return task.progress?.phase === "waiting for tasks"
    })
    await runtime.tasks.say(id, "Do not wait for it.")
    await eventually("it was told", () => requestsOf(provider, "below").length === 3)
    expect(lastOf(requestsOf(provider, "below")[2])).toContain("Do not wait for it.")
    ;(await gated.call(1)).finish("at last")
    expect(await endOf(opened, { id })).toMatchObject({ patch: { payload: { answer: "All done." } } })
  })

  test(`what is said while an agent's run comes to its end is not lost (${where})`, async () => {
    const opened = await openSubagents({ isKept, main: [], below: ["Done.", "And the clock, too."] })
    const { runtime, session, provider } = opened
    const { id } = await startAgent(opened)
    const said = new Promise<unknown>((resolve) => {
      // The last look is over: the agent is put away, and its run is about to end.
      const unlisten = runtime.on((event) => {
        if (event.type !== "agent.completed" || event.agent === session.id) return
        unlisten()
        resolve(runtime.tasks.say(id, "Mend the clock."))
      })
    })
    await said
    await eventually("it heard it", () => requestsOf(provider, "below").length === 2)
    expect(lastOf(requestsOf(provider, "below")[1])).toContain("Mend the clock.")
    expect(await endOf(opened, { id })).toMatchObject({ run: 2, patch: { payload: { answer: "And the clock, too." } } })
  })

  test(`what is said to a completed agent resumes it (${where})`, async () => {
    const opened = await openSubagents({ isKept, main: [], below: ["Done.", "Done again."] })
    const { id } = await endOf(opened, await startAgent(opened))
    expect(await opened.runtime.tasks.say(id, "Once more.")).toMatchObject({ how: "resumed", task: { run: 2 } })
    expect(await endOf(opened, { id })).toMatchObject({ run: 2, patch: { payload: { answer: "Done again." } } })
  })
}

test("what is said to an agent before its run has ended, and kept after it, is not lost", async () => {
  const opened = await openSubagents({ main: [], below: ["Done.", "And the clock, too."] })
  const { runtime, session } = opened
  const { id } = await startAgent(opened)
  const { store } = runtime.engine
  const { commit, documents } = store
  const hasLooked = Promise.withResolvers<void>()
  const said = new Promise<unknown>((resolve) => {
    runtime.on((event) => {
      if (event.type !== "agent.completed" || event.agent === session.id) return
      const collection = toSaidCollection(event.agent)
      let looks = 0
      Object.assign(store, {
        async documents(...asked: Parameters<typeof documents>) {
          const found = await documents(...asked)
          // The first look is the speaker's, the second that of the run that has ended.
          if (asked[1] === collection && ++looks === 2) hasLooked.resolve()
          return found
        },
        async commit(operations: readonly Operation[], options?: CommitOptions) {
          const isSaid = operations.some(
            (operation) => "collection" in operation && operation.collection === collection,
          )
          if (isSaid) await hasLooked.promise
          return commit(operations, options)
        },
      })
      resolve(runtime.tasks.say(id, "Mend the clock."))
    })
  })
  await said
  expect(await endOf(opened, { id })).toMatchObject({ run: 2, patch: { payload: { answer: "And the clock, too." } } })
})

test("what is said to an agent that failed is refused", async () => {
  const below = [{ error: { code: "model_refused", message: "No." } }] as const
  const opened = await openSubagents({ main: [], below })
  const { id } = await endOf(opened, await startAgent(opened))
  await expect(opened.runtime.tasks.say(id, "Go on.")).rejects.toMatchObject({ code: "wrong_state" })
})
