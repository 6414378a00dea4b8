import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createClarificationPlugin } from "../../src/builtin/clarification/clarification-plugin.ts"
import { createFileEditPlugin } from "../../src/builtin/file_edit/file-edit-plugin.ts"
import { createMultimodalPlugin } from "../../src/builtin/multimodal/multimodal-plugin.ts"
import { createReferencesPlugin } from "../../src/builtin/references/references-plugin.ts"
import { createSlashCommandPlugin } from "../../src/builtin/slash_command/slash-command-plugin.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createTodoPlugin } from "../../src/builtin/todo/todo-plugin.ts"
import type { PersonChannel, Question } from "../../src/plugin/person-port.ts"
import { createFolder } from "../support/workplace.ts"
import {
  lastSaid,
  type OpenAgent,
  openAgent,
  openScripted,
  resultsOf,
  resultText,
} from "../support/session/open-agent.ts"
import { say } from "../support/session/test-tools.ts"

/** A person who answers every question the same, and remembers what they were asked. */
function createPerson(value: string) {
  const questions: Question[] = []
  const person: PersonChannel = {
    name: "test",
    async ask(question) {
      questions.push(question)
      return { isAnswered: true, value, by: "test" }
    },
  }
  return { person, questions }
}

const results = ({ session }: OpenAgent): readonly string[] => resultsOf(session.history()).map(resultText)

test("004-51: a call with an effect is decided by policy, by the person, and ahead through askPermission", async () => {
  const { person, questions } = createPerson("yes")
  const tools = ["write", "erase"].map((name) => ({ ...say, name, effects: ["write"] as const }))
  const input = { text: "x" }
  const agent = await openAgent(
    [
      { calls: [{ tool: "askPermission", input: { tool: "write", reason: "To note it.", input } }] },
      {
        calls: [
          { tool: "write", input },
          { tool: "erase", input },
        ],
      },
      "done",
    ],
    { tools, person, permissions: { rules: [{ tool: "erase", decision: "deny", reason: "never erase" }] } },
  )
  await agent.session.send("go")
  expect(questions).toHaveLength(1)
  expect(results(agent).slice(1)).toEqual(["x", expect.stringContaining("never erase")])
})

test("004-52: the model makes a plan and keeps it, and the person sees it by the command plan", async () => {
  const script = [
    { calls: [{ tool: "createPlan", input: { title: "Bread", steps: ["knead", "bake"] } }] },
    { calls: [{ tool: "updateStep", input: { step: 1, status: "completed" } }] },
    { calls: [{ tool: "getPlanStatus" }] },
    "done",
  ]
  const agent = await openAgent(script, { plugins: [createTodoPlugin()] })
  await agent.session.send("go")
  expect(results(agent)[2]).toContain("knead")
  const shown = await agent.session.runCommand("plan")
  expect(shown).toMatch(/Bread[^]*knead[^]*bake/)
  expect(agent.session.history()).toHaveLength(8)
})

test("004-53: references are listed and selected by the model and by the person's commands", async () => {
  const references = [
    { id: "style", name: "House style", description: "How we write.", text: "Write short sentences." },
  ]
  const plugin = createReferencesPlugin({ root: createFolder(), documents: references })
  const script = [
    { calls: [{ tool: "listReferences" }] },
    { calls: [{ tool: "selectReferences", input: { ids: ["style"] } }] },
    "done",
  ]
  const agent = await openAgent(script, { plugins: [plugin] })
  await agent.session.send("go")
  expect(results(agent)[0]).toContain("style")
  expect(results(agent)[1]).toContain("Write short sentences.")
  expect(await agent.session.runCommand("listReferences")).toContain("style")
  expect(await agent.session.runCommand("selectReferences", "style")).toContain("style")
})

test("what a conversation has selected is known where it goes on", async () => {
  const references = ["style", "tone"].map((id) => ({ id, name: id, text: `All about ${id}.` }))
  const plugins = [createReferencesPlugin({ root: createFolder(), documents: references })]
  const calls = [{ tool: "selectReferences", input: { ids: ["tone"] } }]
  const agent = await openAgent([{ calls }, "done"], { isKept: true, plugins })
  await agent.session.send("go")
  const there = await openScripted(createScriptedModel([]), { isKept: true, folder: agent.folder, plugins })
  const again = await there.runtime.openSession(agent.session.id)
  expect(await again.runCommand("listReferences")).toMatch(/style: style\n.*tone: tone \(selected\)/)
})

test("004-54: a subagent of a profile does its work in a session of its own, and profiles lists what there is", async () => {
  const profiles = [{ name: "baker", description: "Bakes.", instructions: "You bake." }]
  const script = [
    { calls: [{ tool: "spawn_subagent", input: { task: "Bake bread.", profile: "baker" } }] },
    "Baked.",
    "It is baked.",
  ]
  const agent = await openAgent(script, { plugins: [createSubagentPlugin({ directories: [], profiles })] })
  expect((await agent.session.send("go")).text).toBe("It is baked.")
  expect(results(agent)[0]).toContain("Baked.")
  expect(agent.model.requests[1]?.system).toContain("You bake.")
  expect(lastSaid(agent.model, 1)).toContain("Bake bread.")
  expect(await agent.session.runCommand("profiles")).toContain("baker")
})

test("004-55: files are read, written, changed, removed and brought back, each after the person's yes", async () => {
  const { person, questions } = createPerson("yes")
  const root = createFolder()
  const plugin = createFileEditPlugin({ root, backupDirectory: createFolder() })
  const path = "note.txt"
  const steps = [
    ["writeNewFile", { path, content: "one\n" }],
    ["readFile", { path }],
    ["updateFile", { path, old_text: "one", new_text: "two" }],
    ["removeFile", { path }],
  ] as const
  const script = [
    ...steps.map(([tool, input]) => ({ calls: [{ tool, input }] })),
    "gone",
    { calls: [{ tool: "undoFileChange", input: { path } }] },
    "back",
  ]
  const agent = await openAgent(script, { plugins: [plugin], person, permissions: { rules: [] } })
  await agent.session.send("go")
  expect(existsSync(join(root, path))).toBe(false)
  expect(results(agent)[1]).toContain("one")
  await agent.session.send("undo")
  expect(readFileSync(join(root, path), "utf8")).toBe("two\n")
  expect(questions.length).toBeGreaterThanOrEqual(4)
  expect(questions[1]?.detail).toMatch(/-one[^]*\+two/)
})

test("004-56: a prompt kept in a file is had by the model through processCommand and sent by the person by its name", async () => {
  const directory = createFolder()
  writeFileSync(join(directory, "review.md"), "Review $ARGUMENTS with care.")
  const calls = [{ tool: "processCommand", input: { command_name: "review", args: "main.ts" } }]
  const agent = await openAgent([{ calls }, "done"], {
    plugins: [createSlashCommandPlugin({ directories: [directory] })],
  })
  await agent.session.send("go")
  expect(results(agent)).toEqual(["Review main.ts with care."])
  expect(await agent.session.runCommand("review", "it")).toEqual({ prompt: "Review it with care." })
})

test("004-57: the model asks the person, and the answers come back with their questions", async () => {
  const { person, questions } = createPerson("rye")
  const input = { context: "For the bread.", questions: [{ question: "Which flour?" }] }
  const agent = await openAgent([{ calls: [{ tool: "request_clarification", input }] }, "Rye it is."], {
    plugins: [createClarificationPlugin()],
    person,
  })
  await agent.session.send("go")
  expect(questions).toHaveLength(1)
  expect(results(agent)[0]).toMatch(/Which flour\?[^]*rye/)
})

test("004-58: an image is shown to a model that can see, and the tool is not offered to one that cannot", async () => {
  const root = createFolder()
  mkdirSync(join(root, "pictures"))
  const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
  writeFileSync(join(root, "pictures/dot.png"), Buffer.from(dot, "base64"))
  const calls = [{ tool: "viewImage", input: { path: "pictures/dot.png" } }]
  const seeing = await openAgent([{ calls }, "A dot."], { plugins: [createMultimodalPlugin({ root })] })
  await seeing.session.send("go")
  const file = { type: "file", mediaType: "image/png", source: { data: dot } }
  expect(resultsOf(seeing.session.history())[0]?.content).toContainEqual(expect.objectContaining(file))
  const models = { "scripted/*": { modalities: ["text"] } } as const
  const blind = await openAgent(["?"], { models, plugins: [createMultimodalPlugin({ root })] })
  expect(blind.session.tools()).toEqual([])
  expect(blind.runtime.plugins.skipped()).toEqual([])
  await blind.session.send("what is in @pictures/dot.png?")
  expect(lastSaid(blind.model, 0)).toMatch(
    /pictures\/dot\.png": .*it cannot be shown, because scripted\/model takes no images/,
  )
})
