import { expect, test } from "vitest"
import { createLatePerson } from "./late-person.ts"
import type { PersonChannel } from "../question/read-answer.ts"

const QUESTION = { kind: "text", text: "Which?" } as const

test("questions from before a person is there are put to them when they come, but not withdrawn ones", async () => {
  const person = createLatePerson()
  const shown: string[] = []
  const terminal: PersonChannel = {
    name: "terminal",
    ask: async ({ text }) => (shown.push(text), { isAnswered: true, value: "this", by: "person" }),
  }
  const withdrawal = new AbortController()
  const withdrawn = person.ask({ ...QUESTION, text: "Never?" }, withdrawal.signal)
  const asked = person.ask(QUESTION, new AbortController().signal)
  withdrawal.abort()
  expect(await withdrawn).toEqual({ isAnswered: false, reason: "the question was withdrawn" })
  person.come(terminal)
  expect(await asked).toMatchObject({ value: "this" })
  expect(shown).toEqual(["Which?"])
})
