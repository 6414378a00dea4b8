import { expect, test } from "vitest"
import type { JsonObject } from "../../src/base/json.ts"
import { taskCommand, tasksCommand } from "../../src/cli/command/task-commands.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { showCommand } from "../support/show-command.ts"
import { createGate } from "../support/session/gate.ts"
import { call } from "../support/background/open-background.ts"
import { openDelegation } from "../support/background/open-delegation.ts"

type Vocabulary = "meanwhile" | "opencode" | "penguiflow"

interface Words {
  readonly agent: (task: string) => ScriptStep
  readonly list: ScriptStep
  readonly look: (id: string) => ScriptStep
}

const WORDS: Readonly<Record<Vocabulary, Words>> = {
  meanwhile: {
    agent: (task) => call("start_agent", { task, profile: "worker" }),
    list: call("list_tasks", { status: ["running", "waiting"] }),
    look: (id) => call("get_task", { task_id: id }),
  },
  opencode: {
    agent: (task) => call("background_task", { description: task, prompt: task, agent: "worker" }),
    list: call("background_list", { status: "running" }),
    look: (id) => call("background_output", { task_id: id }),
  },
  penguiflow: {
    agent: (task) => call("tasks.spawn", { query: task, profile: "worker" }),
    list: call("tasks.list"),
    look: (id) => call("tasks.get", { task_id: id }),
  },
}

/** A conversation whose agent has an agent below it, which works on a command; and a command of its own. */
async function openTree(vocabulary: Vocabulary) {
  const { agent: startAgent, list, look } = WORDS[vocabulary]
  const gated = createGatedTool({ name: "gated", obeys: true })
  const gate = createGate()
  const hold: ScriptStep = () => ({ gate: gate.pass(), text: "late" })
  const below: ScriptStep = (request) => {
    const said = JSON.stringify(request.messages)
    if (request.messages.some(({ role }) => role === "tool")) return typeof hold === "function" ? hold(request) : hold
    return said.includes("Inner work.") ? call("gated", { name: "deep" }) : startAgent("Inner work.")
  }
  const main = [startAgent("Outer work."), "It works.", list, async () => look(await idOf("Outer work.")), "Seen."]
  const agent = await openDelegation(
    main,
    Array.from({ length: 6 }, () => below),
    {
      vocabulary,
      tools: [gated.tool],
      background: { thresholdSeconds: 0.05 },
    },
  )
  const find = async (title: string) => {
    const { items } = await agent.runtime.tasks.list({ kinds: ["tool", "agent"] })
    return items.find((task) => task.title.includes(title))
  }
  const idOf = async (title: string): Promise<string> => ((await find(title))?.id ?? "none").slice(0, 8)
  await agent.session.send("go")
  await eventually("the deepest is a task", () => find("gated"))
  await agent.session.send("look")
  return { agent, ids: await Promise.all(["Outer work.", "Inner work.", "gated"].map(idOf)) }
}

test.each(["meanwhile", "penguiflow"] as const)(
  "%s lists what a task has started behind it, and shows it below",
  async (vocabulary) => {
    const { agent, ids } = await openTree(vocabulary)
    const [outer, inner, deep] = ids
    const [list, view] = agent.answers().slice(1) as readonly { tasks?: JsonObject[]; below?: JsonObject[] }[]
    const toPlace = (task: JsonObject) => [task["task_id"], task["parent_task_id"]]
    expect(list?.tasks?.map(toPlace)).toEqual([
      [outer, undefined],
      [inner, outer],
      [deep, inner],
    ])
    expect(view?.below?.map(toPlace)).toEqual([
      [inner, undefined],
      [deep, inner],
    ])
  },
)

test("opencode indents what a task has started, and shows it below", async () => {
  const { agent, ids } = await openTree("opencode")
  const [outer, inner, deep] = ids
  const [list, view] = agent.answers().slice(1) as readonly { readonly text?: string }[]
  expect(
    list?.text
      ?.split("\n")
      .slice(1)
      .map((line) => line.split(" | ")[0]),
  ).toEqual([outer, `  ${inner}`, `    ${deep}`])
  expect(view).toMatchObject({ below: [{ task_id: inner }, { task_id: deep, parent_task_id: inner }] })
})

test("/tasks and /task indent what a task has started, through turns that they do not show", async () => {
  const { agent, ids } = await openTree("meanwhile")
  const [outer, inner, deep] = ids
  const rows = (await showCommand(tasksCommand, "", agent.runtime)).split("\n")
  expect(rows.slice(0, 3).map((row) => row.replace(/^([0-9a-f]{8}) .* (?:ms|s) ( +)\S.*$/, "$1$2"))).toEqual([
    `${outer} `,
    `${inner}   `,
    `${deep}     `,
  ])
  const shown = await showCommand(taskCommand, outer ?? "", agent.runtime)
  expect(shown).toMatch(
    new RegExp(`^below {5}\\[${inner}\\] \\w+: .*Inner work\\.\\n {12}\\[${deep}\\] running: gated$`, "m"),
  )
})
