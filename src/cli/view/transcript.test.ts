import { expect, test } from "vitest"
import { createTranscript } from "./transcript.ts"

test("the last 200 lines are kept, and of them as many as fit are shown", () => {
  const transcript = createTranscript()
  for (let line = 1; line <= 300; line++) transcript.print(`line ${line}`)
  expect(transcript.last(1_000, 80)).toHaveLength(200)
  expect(transcript.last(2, 80)).toEqual(["line 299", "line 300"])
})

test("a line that is too wide for the screen takes several rows, and a line that does not fit at all is cut", () => {
  const transcript = createTranscript()
  transcript.print("first")
  transcript.print(`\u001b[2m${"x".repeat(25)}\u001b[22m`)
  expect(transcript.last(4, 10)).toHaveLength(2)
  expect(transcript.last(3, 10)).toHaveLength(1)
  expect(transcript.last(1, 10)).toEqual([`${"x".repeat(9)}…`])
  expect(createTranscript().last(5, 10)).toEqual([])
})

test("a line that is being written is kept apart from those that have ended", () => {
  const transcript = createTranscript()
  transcript.write("one\ntw")
  expect(transcript.last(9, 80)).toEqual(["one"])
  expect(transcript.rest()).toBe("tw")
  transcript.write("o")
  transcript.endLine()
  expect(transcript.last(9, 80)).toEqual(["one", "two"])
  expect(transcript.rest()).toBe("")
})
