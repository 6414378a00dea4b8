import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { PLACES } from "../support/session/open-agent.ts"
import { openSubagents, requestsOf, type SubagentOptions, WORKER } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

const SLOW: ScriptStep = { calls: [{ tool: "gated" }] }
const createSlow = () => createGatedTool({ background: { mode: "always" }, obeys: true })

for (const [where, isKept] of PLACES) {
  test(`C10: a subagent that ended its turn while its own background task lives is woken, and its parent is not told "complete" before that (${where})`, async () => {
    const slow = createSlow()
    const opened = await openSubagents({
      isKept,
      main: ["Well.", "Good."],
      below: [SLOW, "I wait for it.", "Here it is."],
      tools: [slow.tool],
    })
    const { runtime, session, provider } = opened
    const { id } = await startAgent(opened)
    const call = await slow.call(1)
    await eventually("it waits", async () => (await runtime.tasks.get(id)).task.progress?.phase === "waiting for tasks")
    expect((await runtime.tasks.get(id)).task.status).toBe("running")
    await session.send("And?")
    expect(JSON.stringify(requestsOf(provider, "main")[0]?.messages)).not.toContain("I wait for it.")
    call.finish("the slow result")
    expect(await endOf(opened, { id })).toMatchObject({ patch: { payload: { answer: "Here it is." } } })
    expect(JSON.stringify(requestsOf(provider, "below")[2]?.messages.at(-1))).toContain("the slow result")
  })

  test(`an agent that starts a task whenever it is woken is not woken for ever (${where})`, async () => {
    const quick = defineTool({
      name: "quick",
      description: "Ends at once.",
      input: z.object({}),
      background: { mode: "always" },
      run: async () => "quick",
    })
    function* below(): Generator<ScriptStep> {
      for (;;) yield* [{ calls: [{ tool: "quick" }] }, "And again."]
    }
    const opened = await openSubagents({ isKept, main: [], below: below() as never, tools: [quick] })
    expect(await endOf(opened, await startAgent(opened))).toMatchObject({ status: "completed" })
    expect(requestsOf(opened.provider, "below").length).toBeLessThanOrEqual(14)
  })
}

test("an agent that waits for its task across a restart is woken once, and hands back then", async () => {
  const dataDirectory = join(createFolder(), "data")
  const before = createSlow()
  const first = await openSubagents({
    dataDirectory,
    main: ["Hello."],
    below: [SLOW, "I wait for it."],
    tools: [before.tool],
    background: { stopGraceSeconds: 0.01 },
  })
  await first.session.send("Hello.")
  const { id } = await startAgent(first)
  await before.call(1)
  await eventually("it waits", async () => {
    const { task } = await first.runtime.tasks.get(id)
    return task.progress?.phase === "waiting for tasks"
  })
  await first.runtime.close()
  const second = await openSubagents({
    dataDirectory,
    main: [],
    below: ["It was cut off."],
    tools: [createSlow().tool],
  })
  expect(await endOf(second, { id })).toMatchObject({ run: 1, patch: { payload: { answer: "It was cut off." } } })
  expect(requestsOf(second.provider, "below")).toHaveLength(1)
})

/** Opens a runtime with one slot, and agents of the model `below` under agents of the model `main`. */
function openWithOneSlot(options: Pick<SubagentOptions, "main" | "below" | "tools">) {
  return openSubagents({
    ...options,
    profiles: [WORKER, { ...WORKER, name: "helper", model: "script/main" }],
    plugins: [createBackgroundPlugin()],
    background: { maxConcurrentTasks: 1 },
    permissions: allowAll,
  })
}

const START = { tool: "start_agent", input: { task: "Help.", profile: "helper" } }
const idIn = (text: string): string => /"task_id":\s*"([^"]+)"/.exec(text)?.[1] ?? ""

test("C18: with one slot, an agent that starts a child and ends its turn does not deadlock", async () => {
  const opened = await openWithOneSlot({
    main: ["Helped."],
    below: [{ calls: [START] }, "I wait for it.", "It helped."],
  })
  expect(await endOf(opened, await startAgent(opened))).toMatchObject({ patch: { payload: { answer: "It helped." } } })
  expect(JSON.stringify(requestsOf(opened.provider, "below")[2]?.messages.at(-1))).toContain("Helped.")
})

test("C18: with one slot, an agent that starts a child and waits for it does not deadlock", async () => {
  const opened = await openWithOneSlot({
    main: ["Helped."],
    below: [
      { calls: [START] },
      ({ messages }) => {
        const tasks = [idIn(JSON.stringify(messages.at(-1)).replaceAll('\\"', '"'))]
        return { calls: [{ tool: "wait_for", input: { tasks } }] }
      },
      "It helped.",
    ],
  })
  expect(await endOf(opened, await startAgent(opened))).toMatchObject({ patch: { payload: { answer: "It helped." } } })
  const [, , third] = requestsOf(opened.provider, "below")
  expect(JSON.stringify(third?.messages.at(-1))).toContain("Helped.")
})

test("C18: with one slot, an agent whose child asks a person does not deadlock", async () => {
  const ask = defineTool({
    name: "ask",
    description: "Asks.",
    input: z.object({}),
    async run(_input, { person }) {
      const answer = await person.ask({ kind: "text", text: "Which one?" })
      return answer.isAnswered ? answer.value : answer.reason
    },
  })
  const gated = createGatedTool()
  const opened = await openWithOneSlot({
    main: [{ calls: [{ tool: "ask" }] }, "The red one."],
    below: [{ calls: [START] }, "I wait for it.", "It is the red one."],
    tools: [ask, gated.tool],
  })
  const { runtime } = opened
  const { id } = await startAgent(opened)
  const wait = await eventually("it asks", async () => (await runtime.engine.store.waits({ isOpen: true }))[0])
  // A run that waits for a person holds no slot, nor do the runs above it: another task runs meanwhile.
  const other = await runtime.tasks.start({ tool: "gated", input: {} })
  ;(await gated.call(1)).finish()
  await endOf(opened, other)
  await runtime.tasks.answer(wait.id, "red", "ada")
  expect(await endOf(opened, { id })).toMatchObject({ patch: { payload: { answer: "It is the red one." } } })
  const all = await runtime.tasks.list({ kinds: ["agent", "tool", "turn"] })
  expect(all.items.every(({ status }) => isTerminal(status))).toBe(true)
})
