import { expect, it } from "vitest"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import { elicit } from "./elicitation.ts"

/** A person who gives these answers one after the other, and then none. */
function createPerson(...answers: readonly string[]) {
  const questions: Question[] = []
  const ask = async (question: Question): Promise<PersonAnswer> => {
    const value = answers[questions.push(question) - 1]
    return value === undefined ? { isAnswered: false, reason: "gone" } : { isAnswered: true, value, by: "test" }
  }
  return { questions, asking: { person: { ask }, signal: new AbortController().signal } }
}

const form = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  message: "Where to?",
  requestedSchema: { type: "object", properties, required: [...required] } as never,
})

it("reads each field as what the server wants it to be", async () => {
  const { asking, questions } = createPerson("Ada", "3", "yes", "Second", "a, b")
  const params = form({
    name: { type: "string" },
    count: { type: "integer" },
    sure: { type: "boolean" },
    which: {
      type: "string",
      oneOf: [
        { const: "1", title: "First" },
        { const: "2", title: "Second" },
      ],
    },
    some: { type: "array", items: { enum: ["a", "b", "c"] } },
  })
  const content = { name: "Ada", count: 3, sure: true, which: "2", some: ["a", "b"] }
  expect(await elicit("s", params, asking)).toEqual({ action: "accept", content })
  expect(questions.map(({ kind }) => kind)).toEqual(["text", "text", "choice", "choice", "choice"])
})

it("asks again when an answer cannot be taken, and says why", async () => {
  const { asking, questions } = createPerson("many", "3")
  expect(await elicit("s", form({ count: { type: "integer" } }), asking)).toMatchObject({ content: { count: 3 } })
  expect(questions[1]?.text).toContain("a whole number is wanted")
})

it.each([
  [{ type: "string", format: "email" }, "notmail", "ada@example.org ", "ada@example.org", "an email address"],
  [{ type: "string", format: "uri" }, "example", "https://example.org", "https://example.org", "an address"],
  [{ type: "string", format: "date" }, "tomorrow", "2026-01-31", "2026-01-31", "a date"],
  [{ type: "string", minLength: 3 }, "ab", "abc", "abc", "at least 3 characters"],
  [{ type: "string", maxLength: 2 }, "abc", "ab", "ab", "at most 2 characters"],
  [{ type: "integer", minimum: 5, maximum: 9 }, "12", "7", 7, "at most 9"],
])("asks again for what %j does not allow", async (field, wrong, right, value, why) => {
  const { asking, questions } = createPerson(wrong, right)
  expect(await elicit("s", form({ it: field }), asking)).toEqual({ action: "accept", content: { it: value } })
  expect(questions[1]?.text).toContain(why)
})

it("shows a server's words as bounded text that does nothing to the screen", async () => {
  const { asking, questions } = createPerson("evil\\u{1b}[2J")
  const field = { type: "string", title: "\u202eWhich", description: "x".repeat(9_000), enum: ["evil\u001b[2J"] }
  const params = { ...form({ which: field }), message: `\u001b[31m${"y".repeat(9_000)}` }
  const content = { which: "evil\u001b[2J" }
  expect(await elicit("s", params, asking)).toEqual({ action: "accept", content })
  const text = questions[0]?.text ?? ""
  expect(`${text} ${String(questions[0]?.options)}`).not.toMatch(/\p{Cf}|[^\P{Cc}\n]/u)
  expect(text).toContain("characters are NOT shown")
  expect(text.length).toBeLessThan(4_000)
})

it("leaves out a field that may be left out", async () => {
  const { asking } = createPerson("")
  expect(await elicit("s", form({ name: { type: "string" } }, []), asking)).toEqual({ action: "accept", content: {} })
})

it("declines if no person answers or can be asked, and if a web page is to be opened", async () => {
  const { asking } = createPerson()
  expect(await elicit("s", form({ name: { type: "string" } }), asking)).toEqual({ action: "decline" })
  const ask = () => Promise.reject(new Error("no conversations"))
  expect(await elicit("s", form({ name: {} }), { ...asking, person: { ask } })).toEqual({ action: "decline" })
  expect(await elicit("s", { mode: "url", message: "Log in", url: "https://x" }, asking)).toEqual({ action: "decline" })
})
