import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { createActivity } from "../../desk/activity.ts"
import { createScreen } from "../screen/create-screen.ts"
import type { AgentEvent } from "../format/agent-event.ts"
import { createAgentView } from "./agent-view.ts"

const toId = (id: string) => id as AgentEvent["agent"]
const MAIN = toId("main-id")

function open({ isTTY = true } = {}) {
  const output = Object.assign(new PassThrough(), { isTTY, columns: 80, rows: 8 })
  let shown = ""
  output.setEncoding("utf8").on("data", (text: string) => (shown += text))
  const screen = createScreen(output, { NO_COLOR: "1" })
  const models = new Map<string, string>()
  const view = createAgentView({
    activity: createActivity(() => performance.now()),
    answers: screen,
    notes: screen,
    isMain: (agent) => agent === MAIN,
    modelOf: (agent) => models.get(agent),
    isAwaited: () => false,
    onTask: () => {},
  })
  onTestFinished(() => view.close())
  const create = (id: string, name: string): void =>
    view.show({
      type: "agent.created",
      agent: toId(id),
      name,
      parent: id === MAIN ? null : MAIN,
      model: "offline/rules",
    })
  const say = (id: string, text: string): void =>
    view.show({ type: "content.delta", agent: toId(id), source: "model", text })
  const end = (id: string): void => view.show({ type: "agent.completed", agent: toId(id), text: "" })
  create(MAIN, "main")
  return {
    ...view.selection,
    models,
    create,
    say,
    end,
    /** The text that was added since the last look, without codes that move the cursor. */
    look() {
      const added = stripVTControlCharacters(shown).replaceAll("\r", "")
      shown = ""
      return added
    },
  }
}

test("F2 goes from all agents to the main one, to each of the others, the latest first, and back to all", () => {
  const { create, next, selected, titleOf } = open()
  create("a", "reviewer")
  create("b", "reviewer")
  create("c", "Main")
  const seen = Array.from({ length: 6 }, () => {
    next()
    const agent = selected()
    return agent ? titleOf(agent) : "all"
  })
  expect(seen).toEqual(["main", "Main 2", "reviewer 2", "reviewer", "all", "main"])
})

test("a subagent whose name cannot be shown does not look like the main agent", () => {
  const { create, say, look } = open()
  create("a", "\u202e")
  say("a", "one\n")
  expect(look()).toMatch(/^subagent │ one\n/)
})

test("only the selected agent's lines are shown, and the others' are there when they are selected", () => {
  const { create, say, select, look } = open()
  create("a", "reviewer")
  select("Reviewer")
  look()
  say(MAIN, "I ask\nand wa")
  say("a", "one\n")
  expect(look()).toMatch(/^reviewer │ one\n(?![^]*(?:ask|wa\b))/)
  select("main")
  expect(look()).toMatch(/^── main · idle · offline\/rules ──\nI ask\n[^]*and wa\n/)
  say(MAIN, "it\n")
  say("a", "two\n")
  expect(look()).toMatch(/^and wait\n(?![^]*two)/)
})

test("an agent that goes on with another model is shown with that one", () => {
  const { models, select, look } = open()
  look()
  models.set(MAIN, "scripted/other")
  select("main")
  expect(look()).toContain("── main · idle · scripted/other ──")
})

test("an unfinished line of an answer goes on when all agents are shown again", () => {
  const { create, say, select, look } = open()
  create("a", "reviewer")
  select("2")
  say(MAIN, "half of")
  look()
  select("all")
  say(MAIN, " it\n")
  expect(look()).toMatch(/── all agents ──\n[^]*half of it\n/)
})

test("half a screen of an ended agent's lines is shown", () => {
  const { create, say, end, select, selected, look } = open()
  create("a", "reviewer")
  say("a", "1\n2\n3\n4\n5\n6\n")
  end("a")
  look()
  select("reviewer")
  expect(look()).toMatch(/^── reviewer · done · offline\/rules ──\n(?:reviewer │ [3-6]\n){4}▸ reviewer alone \(done\)/)
  expect(selected()?.status).toBe("done")
})

test("the end of an agent that is shown alone is announced", () => {
  const { create, end, select, look } = open()
  create("a", "reviewer")
  create("b", "builder")
  select("reviewer")
  look()
  end("b")
  expect(look()).not.toContain("builder")
  end("a")
  expect(look()).toContain("── reviewer has ended (done)")
})

test("the last nine other agents are kept, with all that work and the selected one", () => {
  const { create, end, select, agents, selected, next } = open()
  for (let count = 1; count <= 12; count++) {
    create(String(count), `agent ${count}`)
    if (count === 1) select("agent 1")
    end(String(count))
  }
  expect(agents().map(({ name }) => name)).toHaveLength(10)
  expect(agents()[1]?.name).toBe("agent 12")
  expect(selected()?.name).toBe("agent 1")
  next()
  expect(selected()).toBeUndefined()
})

test("a name that no agent has is answered with near names", () => {
  const { create, select, selected, look } = open()
  create("a", "reviewer")
  look()
  select("reviewr")
  expect(look()).toContain("There is no agent reviewr. Did you mean reviewer?")
  expect(selected()).toBeUndefined()
})

test("without a terminal all agents are shown, and one alone is refused", () => {
  const { create, select, showsMain, look } = open({ isTTY: false })
  create("a", "reviewer")
  select("reviewer")
  expect(look()).toMatch(/Only a terminal/)
  expect(showsMain()).toBe(true)
})
