import { describe, expect, test } from "vitest"
import { interceptCommits } from "../support/intercept-commits.ts"
import { createGatedTool } from "../support/tools.ts"
import { ABORT_MOMENTS } from "../support/session/abort-moments.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { type OpenAgent, openAgent, PLACES } from "../support/session/open-agent.ts"

const MOMENTS = Object.entries(ABORT_MOMENTS)
type CreateMoment = (typeof MOMENTS)[number][1]

async function stopAt(
  createMoment: CreateMoment,
  isKept: boolean,
  stop: (agent: OpenAgent, abort: AbortController) => void,
) {
  const { script, options, reached, release, said = "" } = createMoment()
  const agent = await openAgent([...script, "I am back."], { ...options, isKept })
  const abort = new AbortController()
  const sent = agent.session.send("go", { signal: abort.signal })
  await reached(agent)
  stop(agent, abort)
  release?.()
  return { agent, result: await sent, said }
}

describe.each(PLACES)("a turn that is stopped, %s", (_, isKept) => {
  test.each(MOMENTS)(
    "%s leaves a history that a strict provider takes, and the next turn works",
    async (_moment, createMoment) => {
      const { agent, result, said } = await stopAt(createMoment, isKept, (_agent, abort) =>
        abort.abort(new Error("enough")),
      )
      const { session, model, runtime } = agent
      expect([result.outcome, result.text]).toEqual(["stopped", said])
      expect(result.accounting.outcome).toBe("stopped")
      expect(session.isBusy).toBe(false)
      expect(findHistoryProblems(session.history())).toEqual([])
      expect(JSON.stringify(session.history().at(-1))).toContain(said === "" ? "stopped" : said)
      const next = await session.send("and now?")
      expect([next.outcome, next.text]).toEqual(["completed", "I am back."])
      expect(findHistoryProblems(session.history())).toEqual([])
      expect(findHistoryProblems(model.requests.at(-1)?.messages ?? [])).toEqual([])
      if (!isKept) return
      expect((await runtime.sessions.load(session.id))?.messages).toEqual(session.history())
      expect((await runtime.tasks.get(result.turn ?? "")).task).toMatchObject({ status: "cancelled" })
    },
  )

  test.each(MOMENTS)("%s by session.stop() says why and that there was one", async (_moment, createMoment) => {
    let stopped: boolean | undefined
    const { agent, result } = await stopAt(createMoment, isKept, ({ session }) => (stopped = session.stop("lunch")))
    expect([stopped, result.outcome, agent.session.stop()]).toEqual([true, "stopped", false])
    expect(findHistoryProblems(agent.session.history())).toEqual([])
    if (!isKept) return
    const { task } = await agent.runtime.tasks.get(result.turn ?? "")
    expect(task).toMatchObject({ stop: { by: "person", reason: "lunch" } })
  })

  test("before it began says nothing, and rejects", async () => {
    const { session, model } = await openAgent(["hello"], { isKept })
    await expect(session.send("go", { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no")
    expect([session.history(), model.callCount]).toEqual([[], 0])
    expect((await session.send("go")).text).toBe("hello")
  })

  test("by a listener, as it hears that the call is made again, does not wait for that", async () => {
    const script = [{ error: { code: "model_unavailable" } } as const, "never"]
    const { session } = await openAgent(script, { isKept, agent: { modelRetryBaseSeconds: 60 } })
    session.on((event) => event.type === "model_call.retried" && session.stop())
    expect((await session.send("go")).outcome).toBe("stopped")
  })

  test("tells a running tool to stop, and its answer says that it was stopped", async () => {
    const gated = createGatedTool({ background: { mode: "never" }, obeys: true })
    const { session } = await openAgent([{ calls: [{ tool: "gated" }] }], { isKept, tools: [gated.tool] })
    const sent = session.send("go")
    const { context } = await gated.call(1)
    session.stop("lunch")
    await sent
    expect(context.signal.aborted).toBe(true)
    expect(JSON.stringify(session.history()[2])).toContain("It was cancelled: lunch")
  })
})

/** Without the moment in which the prompt is enriched: the turn is not in the store yet. */
const BEGUN_MOMENTS = MOMENTS.filter(([moment]) => moment !== "while the prompt is enriched")

test.each(BEGUN_MOMENTS)(
  "a turn is stopped at once, %s, while the store does not answer, and its end is kept when it does",
  async (_moment, createMoment) => {
    const { script, options, reached, release, said = "" } = createMoment()
    const agent = await openAgent([...script, "I am back."], { ...options, isKept: true })
    const { session, runtime } = agent
    const stopped = new Promise((resolve) =>
      session.on((event) => event.type === "turn.completed" && resolve(event.accounting.outcome)),
    )
    const sent = session.send("go")
    await reached(agent)
    const isBack = Promise.withResolvers<void>()
    interceptCommits(runtime, async (operations, commit) => {
      await isBack.promise
      return commit(operations)
    })
    session.stop("lunch")
    release?.()
    expect(await stopped).toBe("stopped")
    isBack.resolve()
    const { outcome, turn, text } = await sent
    expect({ outcome, text }).toEqual({ outcome: "stopped", text: said })
    expect((await runtime.tasks.get(turn ?? "")).task).toMatchObject({
      status: "cancelled",
      stop: { by: "person", reason: "lunch" },
    })
    expect((await runtime.sessions.load(session.id))?.messages).toEqual(session.history())
    expect((await session.send("and now?")).text).toBe("I am back.")
  },
)
