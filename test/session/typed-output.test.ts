import { describe, expect, test } from "vitest"
import { z } from "zod"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { callsOf, textOf } from "../../src/plugin/message.ts"
import type { ModelRequest } from "../../src/plugin/model.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { beginLife } from "../support/session/lives.ts"
import { lastSaid, openAgent, PLACES } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"
import { createFolder } from "../support/workplace.ts"

const weather = z.object({ city: z.string(), degrees: z.number() })
const ROME = { city: "Rome", degrees: 21 }
const call = { tool: "add", input: { a: 1, b: 2 } }
const JSON_MODE = { scripted: { hasJsonMode: true } }

/** An answer by the tool that a model without a JSON mode is given. */
const gives = (input: ModelRequest["output"] | object | string): ScriptStep => ({
  calls: [{ tool: "give_answer", input: input as never }],
})

const MODES = [
  ["by the model's own JSON mode", JSON_MODE, (value: object) => JSON.stringify(value)],
  ["by a tool", {}, gives],
] as const

describe.each(PLACES)("an answer that is a value, %s", (_, isKept) => {
  describe.each(MODES)("%s", (mode, options, answer) => {
    test("is checked, typed, and told as text, too", async () => {
      const { session } = await openAgent([answer(ROME)], { isKept, ...options })
      const { output, text, outcome } = await session.send("How warm is it in Rome?", { output: weather })
      const degrees: number = output.degrees
      expect([output, degrees, JSON.parse(text), outcome]).toEqual([ROME, 21, ROME, "completed"])
      expect(session.history().map(textOf)).toEqual(["How warm is it in Rome?", JSON.stringify(ROME)])
      expect(session.history().flatMap(callsOf)).toEqual([])
    })

    test("may be of a schema that holds itself, in a list", async () => {
      const tree: z.ZodType = z.object({ name: z.string(), below: z.lazy(() => z.array(tree)) })
      const value = [{ name: "a", below: [{ name: "b", below: [] }] }]
      const { session, model } = await openAgent([answer({ value })], { isKept, ...options })
      expect((await session.send("Which tree?", { output: z.array(tree) })).output).toEqual(value)
      const told = model.requests[0]?.output?.schema ?? model.requests[0]?.tools.at(-1)?.inputSchema
      const names = [...JSON.stringify(told).matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g)].map(([, name]) => name)
      expect(names).not.toEqual([])
      expect(Object.keys(told?.["$defs"] ?? {})).toEqual(expect.arrayContaining(names))
    })

    test("that was refused twice leaves a turn that can be taken again", async () => {
      const wrong = answer({ city: "Rome" })
      const { session, model } = await openAgent([wrong, wrong, "It is warm."], { isKept, ...options })
      const refused = session.send("How warm is it in Rome?", { output: weather })
      await expect(refused).rejects.toMatchObject({ code: "output_invalid" })
      const before = session.history().length
      expect((await (await session.retry()).result).text).toBe("It is warm.")
      expect(session.history()).toHaveLength(before)
      expect(model.requests.at(-1)?.messages.filter(({ role }) => role === "user")).toHaveLength(2)
    })

    test("is checked once, so that a schema that changes its mind changes nothing", async () => {
      let checks = 0
      const once = weather.refine(() => ++checks === 1)
      const { session } = await openAgent([answer(ROME)], { isKept, ...options })
      expect((await session.send("How warm is it in Rome?", { output: once })).output).toEqual(ROME)
      expect(checks).toBe(1)
    })

    test("whose check never ends is given up by a stop", async () => {
      const checking = Promise.withResolvers<void>()
      const never = weather.refine(() => {
        checking.resolve()
        return new Promise<boolean>(() => {})
      })
      const { session } = await openAgent([answer(ROME)], { isKept, ...options })
      const sent = session.send("How warm is it in Rome?", { output: never })
      await checking.promise
      session.stop()
      await expect(sent).rejects.toMatchObject({ code: "closed" })
    })

    test("comes after the calls of the turn", async () => {
      const { session, model } = await openAgent([{ calls: [call] }, answer(ROME)], {
        isKept,
        tools: [add],
        ...options,
      })
      expect((await session.send("go", { output: weather })).output).toEqual(ROME)
      expect(model.requests[1]?.tools.map(({ name }) => name)).toContain("add")
      expect(findHistoryProblems(session.history())).toEqual([])
    })

    test("is asked for once more, with what was wrong", async () => {
      const { session, model, events } = await openAgent([answer({ city: "Rome" }), answer(ROME)], {
        isKept,
        ...options,
      })
      expect((await session.send("go", { output: weather })).output).toEqual(ROME)
      expect(lastSaid(model, 1)).toMatch(/^\[Meanwhile: your answer does not have the form.*degrees: .*number/)
      expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
      expect(findHistoryProblems(session.history())).toEqual([])
      const whole = events.flatMap((event) => (event.type === "agent.output" ? [event.text] : []))
      expect(whole).toEqual([JSON.stringify(ROME)])
    })

    test("that is wrong twice is refused with its raw text, and the conversation goes on", async () => {
      const bad = { city: "Rome", degrees: "warm" }
      const { session, model, runtime } = await openAgent([answer({}), answer(bad), "fine"], { isKept, ...options })
      await expect(session.send("go", { output: weather })).rejects.toMatchObject({
        code: "output_invalid",
        details: { text: JSON.stringify(bad), problem: expect.stringContaining("degrees"), model: "scripted/model" },
      })
      expect(model.callCount).toBe(2)
      expect(runtime.ledger.total().calls).toBe(2)
      expect(session.turns().at(-1)?.outcome).toBe("failed")
      expect(findHistoryProblems(session.history())).toEqual([])
      expect((await session.send("and now?")).text).toBe("fine")
    })

    test("is asked for once more in every turn, and not once in all", async () => {
      const script = [answer({}), answer(ROME), answer({}), answer(ROME)]
      const { session } = await openAgent(script, { isKept, ...options })
      for (const message of ["one", "two"])
        expect((await session.send(message, { output: weather })).output).toEqual(ROME)
    })

    test("may be a list, a text or one of several shapes", async () => {
      const shape = z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("dot") }),
        z.object({ kind: z.literal("line"), length: z.number() }),
      ])
      const script = [answer({ value: ["a", "b"] }), answer({ value: "yes" }), answer({ value: { kind: "dot" } })]
      const { session, model } = await openAgent(script, { isKept, ...options })
      const list: string[] = (await session.send("a", { output: z.array(z.string()) })).output
      expect(list).toEqual(["a", "b"])
      expect((await session.send("b", { output: z.enum(["yes", "no"]) })).output).toBe("yes")
      expect((await session.send("c", { output: shape })).output).toEqual({ kind: "dot" })
      for (const { output, tools } of model.requests) {
        expect(output?.schema ?? tools[0]?.inputSchema).toMatchObject({ type: "object", required: ["value"] })
      }
    })
  })

  test("is asked for by the model's own mode where it has one, and else by a tool that it must call", async () => {
    const own = await openAgent([JSON.stringify(ROME)], { isKept, ...JSON_MODE })
    await own.session.send("go", { output: weather })
    expect(own.model.requests[0]).toMatchObject({
      tools: [],
      output: { schema: { type: "object", properties: { city: { type: "string" }, degrees: { type: "number" } } } },
    })
    const other = await openAgent([gives(ROME), gives(ROME)], { isKept })
    await other.session.send("go", { output: weather })
    expect(other.model.requests[0]).not.toHaveProperty("output")
    expect(other.model.requests[0]).toMatchObject({
      tools: [{ name: "give_answer" }],
      toolChoice: { tool: "give_answer" },
    })
    const beside = await openAgent([gives(ROME)], { isKept, tools: [add, { ...add, name: "give_answer" }] })
    await beside.session.send("go", { output: weather }).catch(() => {})
    expect(beside.model.requests[0]).toMatchObject({
      tools: [{ name: "add" }, { name: "give_answer" }, { name: "give_answer_" }],
      toolChoice: "required",
    })
  })

  test("given together with other calls comes too early: they run, and it is asked for again", async () => {
    const early: ScriptStep = { calls: [call, { tool: "give_answer", input: ROME }] }
    const { session, model } = await openAgent([early, gives(ROME)], { isKept, tools: [add] })
    expect((await session.send("go", { output: weather })).output).toEqual(ROME)
    expect(model.callCount).toBe(2)
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("is still asked for in the last step, without the other tools", async () => {
    const { session, model } = await openAgent([{ calls: [call] }, gives(ROME)], { isKept, tools: [add] })
    expect((await session.send("go", { output: weather, maxSteps: 2 })).output).toEqual(ROME)
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(["give_answer"])
  })

  test("is what the schema makes of it, also where that takes time", async () => {
    const schema = z
      .object({ day: z.string().transform((text) => new Date(text)), note: z.string().default("none") })
      .refine(async () => true)
    const { session } = await openAgent([gives({ day: "2026-01-02" })], { isKept })
    const { output } = await session.send("go", { output: schema })
    expect([output.day.getUTCFullYear(), output.note]).toEqual([2026, "none"])
  })

  test("is read out of a fence, and out of plain text where a model calls no tool", async () => {
    const { session } = await openAgent([`\`\`\`json\n${JSON.stringify(ROME)}\n\`\`\``], { isKept })
    expect((await session.send("go", { output: weather })).output).toEqual(ROME)
  })

  test("does not come from a turn that is stopped: it rejects", async () => {
    const gate = createGate()
    const { session } = await openAgent([() => ({ gate: gate.pass() })], { isKept })
    const sent = session.send("go", { output: weather })
    await gate.reached
    session.stop()
    await expect(sent).rejects.toMatchObject({ code: "closed" })
  })

  test("that was cut off is sent back with that reason", async () => {
    const cut: ScriptStep = { text: '{"city": "Ro', finish: "length" }
    const { session, model } = await openAgent([cut, JSON.stringify(ROME)], { isKept, ...JSON_MODE })
    expect((await session.send("go", { output: weather })).output).toEqual(ROME)
    expect(lastSaid(model, 1)).toContain("it was cut off at the longest answer allowed; it is not JSON")
  })

  test("of a schema that no model can be told is refused, and nothing is said", async () => {
    const { session } = await openAgent([], { isKept })
    await expect(session.send("go", { output: z.object({ at: z.date() }) })).rejects.toMatchObject({
      code: "invalid_input",
    })
    expect(session.history()).toEqual([])
  })
})

describe("a turn that asks for a value, taken over after a crash,", () => {
  test("still checks the answer, and asks for it once more", async () => {
    const folder = createFolder()
    const gate = createGate()
    const first = await beginLife(folder, 1, { script: [() => ({ gate: gate.pass() })], tools: [] })
    const session = await first.runtime.createSession()
    void session.send("go", { output: weather }).catch(() => {})
    await gate.reached
    first.life.end()
    const second = await beginLife(folder, 2, { script: [gives({ city: "Rome" }), gives(ROME)], tools: [] })
    const reopened = await second.runtime.openSession(session.id)
    await eventually("the turn goes on", () => reopened.history().map(textOf).includes(JSON.stringify(ROME)))
    expect(second.model.requests[0]).toMatchObject({ toolChoice: { tool: "give_answer" } })
    expect(lastSaid(second.model, 1)).toContain("degrees")
  })

  test("does not ask a second time if the answer was sent back before the crash", async () => {
    const folder = createFolder()
    const gate = createGate()
    const script = [gives({}), () => ({ gate: gate.pass() })]
    const first = await beginLife(folder, 1, { script, tools: [] })
    const session = await first.runtime.createSession()
    void session.send("go", { output: weather }).catch(() => {})
    await gate.reached
    first.life.end()
    const second = await beginLife(folder, 2, { script: [gives({ city: 7 })], tools: [] })
    const reopened = await second.runtime.openSession(session.id)
    const turn = async () => (await second.runtime.tasks.list({ session: session.id, kinds: ["turn"] })).items[0]
    await eventually("the turn ends", async () => (await turn())?.status === "failed")
    expect(second.model.callCount).toBe(1)
    expect(reopened.history().map(textOf)).toContain(JSON.stringify({ city: 7 }))
    const { id } = (await turn()) ?? { id: "" }
    expect((await second.runtime.tasks.get(id)).task).toMatchObject({ failure: { code: "output_invalid" } })
  })
})

test("start refuses a schema, which it would pass over", async () => {
  const { session } = await openAgent(["one"])
  const options: object = { output: weather }
  await expect(session.start("How warm is it?", options)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("send(message, { output })"),
  })
})
