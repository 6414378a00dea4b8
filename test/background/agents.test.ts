import { expect, test } from "vitest"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { textOf } from "../../src/plugin/message.ts"
import type { ModelRequest } from "../../src/plugin/model.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { lastSaid, resultsOf, resultText } from "../support/session/open-agent.ts"
import { call, callWithTask, openBackground } from "../support/background/open-background.ts"

const plugins = () => [createSubagentPlugin({ directories: [] })]
const isBelow = ({ system }: ModelRequest): boolean => system.includes("You are a subagent")

/** One script for the agent and another for all its subagents: they share the model. */
function* talk(main: readonly ScriptStep[], below: ScriptStep): Generator<ScriptStep> {
  const left = [...main]
  for (;;) yield (request) => (isBelow(request) ? below : (left.shift() ?? "That is all."))
}

test("000-87: an agent is started in the background, and its answer comes back by itself", async () => {
  const gate = createGate()
  const below: ScriptStep = async () => ({ gate: gate.pass(), text: "The log says: disk full." })
  const main = [call("start_agent", { task: "Read the log.", name: "reader" }), "It reads.", "The disk is full."]
  const agent = await openBackground(talk(main, below), { vocabulary: "meanwhile", plugins: plugins() })
  await agent.session.send("Why did it stop?")
  expect(agent.answers()[0]).toMatchObject({ tool: "spawn_subagent", status: "running" })
  await gate.reached
  gate.open()
  expect(await agent.ended(1)).toMatchObject({ kind: "agent", status: "completed" })
  await agent.session.send("well?")
  expect(lastSaid(agent.model, -1)).toContain("disk full")
})

test("000-86: an agent is handed what of the conversation it is to know, as it stands: none, a summary, or all", async () => {
  const heard: string[] = []
  const below: ScriptStep = ({ messages }) => {
    heard.push(messages.map(textOf).join("\n"))
    return "I know."
  }
  const main = [
    "Noted.",
    {
      calls: (["none", "summary", "full"] as const).map((context) => ({
        tool: "start_agent",
        input: { task: `Use ${context}.`, context },
      })),
    },
    "They work.",
  ]
  const agent = await openBackground(talk(main, below), { vocabulary: "meanwhile", plugins: plugins() })
  await agent.session.send("The password of the day is xylophone.")
  await agent.session.send("go")
  for (const number of [1, 2, 3]) await agent.ended(number)
  const told = (context: string): string => heard.find((text) => text.includes(`Use ${context}.`)) ?? ""
  expect(told("none")).not.toContain("xylophone")
  expect(told("summary")).toContain("xylophone")
  expect(told("full")).toContain("xylophone")
})

test("agents that a start tool starts count against the limit of its caller", async () => {
  const gate = createGate()
  const below: ScriptStep = async () => ({ gate: gate.pass(), text: "Done." })
  const starts = ["a", "b", "c"].map((task) => ({ tool: "start_agent", input: { task, context: "none" } }))
  const agent = await openBackground(talk([{ calls: starts }, "Two of them work."], below), {
    vocabulary: "meanwhile",
    plugins: plugins(),
    background: { maxAgentFanOut: 2 },
  })
  await agent.session.send("go")
  const refused = resultsOf(agent.session.history()).filter(({ isError }) => isError)
  expect(refused.map(resultText)).toEqual([expect.stringContaining("at most 2 are allowed")])
  gate.open()
  for (const number of [1, 2]) await agent.ended(number)
})

test("an agent that is asked for twice with the same words is found, even with another handover", async () => {
  const gate = createGate()
  const below: ScriptStep = async () => ({ gate: gate.pass(), text: "Done." })
  const main = [
    call("start_agent", { task: "Read." }),
    "Works.",
    call("start_agent", { task: "Read." }),
    "Still works.",
  ]
  const agent = await openBackground(talk(main, below), { vocabulary: "meanwhile", plugins: plugins() })
  await agent.session.send("read")
  await agent.session.send("read it, please")
  expect(agent.answers()[1]?.["note"]).toContain("runs already")
  gate.open()
  await agent.ended(1)
})

test("the same words to an agent of another profile count as other work", async () => {
  const gate = createGate()
  const below: ScriptStep = async () => ({ gate: gate.pass(), text: "Done." })
  const start = (profile?: string) => call("start_agent", { task: "Read.", ...(profile && { profile }) })
  const profiles = ["reader", "lawyer"].map((name) => ({ name, description: `A ${name}.`, instructions: "Read well." }))
  const main = [start("reader"), start("lawyer"), start(), start("lawyer"), "They work."]
  const agent = await openBackground(talk(main, below), {
    vocabulary: "meanwhile",
    plugins: [createSubagentPlugin({ directories: [], profiles })],
  })
  await agent.session.send("read it")
  const [reader, lawyer, plain, again] = agent.answers()
  expect(new Set([reader, lawyer, plain].map((answer) => answer?.["task_id"])).size).toBe(3)
  expect(again).toMatchObject({
    task_id: lawyer?.["task_id"],
    note: expect.stringContaining("runs already") as unknown,
  })
  gate.open()
  for (const number of [1, 2, 3]) await agent.ended(number)
})

test("a message to a task reaches its working agent, and a completed agent resumes with the message", async () => {
  const gate = createGate()
  const heard: string[] = []
  const below: ScriptStep = async ({ messages }) => {
    heard.push(messages.map(textOf).join("\n"))
    if (heard.length === 1) await gate.pass()
    return `Answer ${heard.length}.`
  }
  const tell = (message: string) => async () => call("send_to_task", { task_id: (await agent.task(1)).id, message })
  const main = [
    call("start_agent", { task: "Count." }),
    tell("Count faster."),
    "Told.",
    tell("And backwards?"),
    "Asked.",
  ]
  const agent = await openBackground(talk(main, below), { vocabulary: "meanwhile", plugins: plugins() })
  await agent.session.send("count")
  await gate.reached
  gate.open()
  await agent.ended(1)
  expect(heard.join("\n")).toContain("Count faster.")
  await agent.session.send("backwards")
  await expect.poll(async () => (await agent.ended(1)).run).toBe(2)
  expect(heard.at(-1)).toContain("And backwards?")
  expect(heard.at(-1)).toContain("Count faster.")
  expect(await agent.task(1)).toMatchObject({ resumeCount: 1, status: "completed" })
})

test("a model that looks at an agent's task reads how far the agent says it is, and is told a milestone it asked for", async () => {
  const gate = createGate()
  const half = { fraction: 0.5, phase: "reading", milestone: true }
  const left: ScriptStep[] = [call("report_progress", half), () => ({ gate: gate.pass(), text: "Read." })]
  const below: ScriptStep = (request) => {
    const next = left.shift() ?? "Read."
    return typeof next === "function" ? next(request) : next
  }
  const main = [
    call("start_agent", { task: "Read the log.", context: "none", milestones: true }),
    "It reads.",
    callWithTask("get_task"),
    "Half of it.",
  ]
  const agent = await openBackground(talk(main, below), { vocabulary: "meanwhile", plugins: plugins() })
  await agent.session.send("go")
  await gate.reached
  await eventually("the milestone is told", async () => {
    return (await agent.runtime.tasks.list({ kinds: ["tool"], statuses: ["completed"] })).items.length === 1
  })
  const milestone = await agent.task(2)
  await eventually("the progress is kept", async () => (await agent.task(1)).progress?.activity?.reported)
  await agent.session.send("how far?")
  expect(milestone).toMatchObject({ tool: "report_progress", parentTask: (await agent.task(1)).id })
  expect(agent.answers().at(-1)).toMatchObject({
    status: "running",
    progress: { reported: { fraction: 0.5, phase: "reading" } },
  })
  expect(lastSaid(agent.model, -2)).toContain("has reached a milestone")
  gate.open()
  await agent.ended(1)
})
