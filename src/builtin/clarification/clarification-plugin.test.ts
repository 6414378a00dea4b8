import { expect, it } from "vitest"
import type { ToolContext } from "../../plugin/context.ts"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import { createRegistry } from "../../plugin/registry.ts"
import { createClarificationPlugin } from "./clarification-plugin.ts"
import { parsed } from "../../../test/support/plugin/parsed.ts"

function create(...answers: PersonAnswer[]) {
  const questions: Question[] = []
  const controller = new AbortController()
  const [tool] = createClarificationPlugin().tools
  if (!tool) throw new Error("the plugin has no tool")
  const person = {
    ask: async (question: Question) => {
      questions.push(question)
      return answers.shift() ?? { isAnswered: false, reason: "nobody is there" }
    },
  }
  const run = async (input: unknown) =>
    tool.run(parsed(tool.input, input), { person, signal: controller.signal } as unknown as ToolContext)
  return { tool, run, questions, controller }
}

const said = (value: string): PersonAnswer => ({ isAnswered: true, value, by: "me" })

it("asks each question in turn and returns the answers with their questions", async () => {
  const { run, questions } = create(said("Postgres"), said("a, b"))
  const returned = await run({
    context: "The new service",
    questions: [
      { question: "Which database?", options: ["SQLite", "Postgres"], default: "SQLite" },
      { question: "Which regions?", options: ["a", "b", "c"], multiple: true },
      { question: "What is it called?" },
    ],
  })
  expect(questions).toEqual([
    {
      kind: "choice",
      text: "The agent asks: Which database?",
      detail: "The new service",
      options: ["SQLite", "Postgres"],
      allowsText: true,
      fallback: "SQLite",
    },
    {
      kind: "choice",
      text: "The agent asks: Which regions?",
      detail: "The new service",
      options: ["a", "b", "c"],
      allowsText: true,
      isMultiple: true,
    },
    { kind: "text", text: "The agent asks: What is it called?", detail: "The new service" },
  ])
  expect(returned).toMatchObject({
    patch: {
      digest: ["2 of 3 questions answered"],
      payload: {
        answers: [
          { question: "Which database?", isAnswered: true, answer: "Postgres" },
          { question: "Which regions?", isAnswered: true, answer: "a, b" },
          { question: "What is it called?", isAnswered: false, reason: "nobody is there" },
        ],
      },
    },
  })
})

it.each([
  [[said("Ada")], "The question was answered"],
  [[], "The question was not answered"],
])("says of a single question whether it was answered", async (answers, digest) => {
  const returned = await create(...answers).run({ context: "A form", questions: [{ question: "Your name?" }] })
  expect(returned).toMatchObject({ patch: { digest: [digest] } })
})

it("never asks for an approval, whatever the model calls its question", async () => {
  const { run, questions } = create(said("yes"))
  await run({ context: "approval", questions: [{ question: "Allow rm -rf?\u001b[2J", options: ["yes", "no"] }] })
  expect(questions[0]).toMatchObject({ kind: "choice", text: "The agent asks: Allow rm -rf?\\u{1b}[2J" })
})

it("asks no further question once the call is stopped", async () => {
  const { run, questions, controller } = create(said("x"))
  controller.abort(new Error("stopped"))
  await expect(run({ context: "x", questions: [{ question: "y" }] })).rejects.toThrow("stopped")
  expect(questions).toEqual([])
})

it.each([
  [{ context: "x", questions: [] }, /questions/],
  [{ context: "", questions: [{ question: "y" }] }, /context/],
  [{ context: "x", questions: [{ question: "y", options: ["a"] }] }, /no choice/],
  [{ context: "x", questions: [{ question: "y", multiple: true }] }, /needs `options`/],
  [{ context: "x", questions: [{ question: "y", options: ["a", "b"], default: "c" }] }, /one of the options/],
])("refuses %j", (input, message) => {
  expect(() => parsed(create().tool.input, input)).toThrow(message)
})

it("needs no permission and leaves a person time to think", async () => {
  const registry = createRegistry()
  await registry.register(createClarificationPlugin())
  expect(registry.autoApprovedTools()).toEqual([{ plugin: "clarification", tool: "request_clarification" }])
  expect(registry.findTool("request_clarification").tool.timeoutMs).toBe(3_600_000)
})
