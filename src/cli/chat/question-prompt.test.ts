import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { createScreen } from "../screen/create-screen.ts"
import { createQuestionPrompt } from "./question-prompt.ts"

const NEVER = new AbortController().signal

function open() {
  const output = new PassThrough()
  let shown = ""
  output.setEncoding("utf8").on("data", (text: string) => (shown += text))
  const states: boolean[] = []
  const desk = createQuestionPrompt(createScreen(output), (isOpen) => states.push(isOpen))
  return { desk, states, shown: () => shown }
}

test("questions are put one after the other, and each line answers the one that is open", async () => {
  const { desk, states, shown } = open()
  const first = desk.channel.ask({ kind: "text", text: "First?" }, NEVER)
  const second = desk.channel.ask({ kind: "approval", text: "Second?", detail: "- old\n+ new" }, NEVER)
  expect(shown()).toContain("First?")
  expect(shown()).not.toContain("Second?")
  desk.take("one")
  expect(await first).toEqual({ isAnswered: true, value: "one", by: "person" })
  expect(shown()).toMatch(/- old\n.*\+ new\nSecond\?/)
  desk.take("y")
  expect(await second).toEqual({ isAnswered: true, value: "yes", by: "person" })
  expect(states).toEqual([true, true, false])
  expect(desk.decline()).toBe(false)
})

test("a question that is declined, or withdrawn while another is open, is not answered", async () => {
  const { desk } = open()
  const withdrawing = new AbortController()
  const first = desk.channel.ask({ kind: "text", text: "First?" }, NEVER)
  const second = desk.channel.ask({ kind: "text", text: "Second?" }, withdrawing.signal)
  withdrawing.abort()
  expect(await second).toMatchObject({ isAnswered: false })
  expect(desk.decline()).toBe(true)
  expect(await first).toEqual({ isAnswered: false, reason: "the person declined to answer" })
  expect(desk.current()).toBeUndefined()
})

test("an invalid answer says what is valid, and a question can be shown again while it is open", async () => {
  const { desk, shown } = open()
  const answer = desk.channel.ask({ kind: "approval", text: "Delete?" }, NEVER)
  desk.take("perhaps")
  expect(shown()).toContain("Answer with y or n.\n")
  const question = desk.current()
  if (!question) throw new Error("no question is open")
  desk.repeat(question)
  expect(shown().match(/Delete\?/g)).toHaveLength(2)
  desk.take("n")
  await answer
  desk.repeat(question)
  expect(shown().match(/Delete\?/g)).toHaveLength(2)
})
