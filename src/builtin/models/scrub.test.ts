import { expect, test } from "vitest"
import { createScrubber } from "./scrub.ts"

test.each([
  ["Incorrect API key provided: sk-proj-abc*****wxyz.", "sk-proj"],
  ["header Authorization: Bearer abcdefghijklmnopqrstuv was refused", "abcdefghijklmnopqrstuv"],
  ["GET https://x.example/v1?key=0123456789abcdef failed", "0123456789abcdef"],
  ["API key AIzaSyA1234567890abcdefg not valid", "AIzaSyA1234567890"],
  ["x-goog-api-key: 0123456789abcdef", "0123456789abcdef"],
])("what looks like a key is taken out of: %s", (text, secret) => {
  const clean = createScrubber([])(text)
  expect(clean).not.toContain(secret)
  expect(clean).toContain("[key]")
})

test("a known key of any shape is taken out wherever it stands", () => {
  expect(createScrubber(["no shape at all"])('{"a":"no shape at all!"}')).toBe('{"a":"[key]!"}')
})

test("a sentence without a key stays as it is, on one line and of readable length", () => {
  const scrub = createScrubber([])
  expect(scrub("Basic authentication is needed:\n  the task-runner must sign in.")).toBe(
    "Basic authentication is needed: the task-runner must sign in.",
  )
  expect(scrub("x".repeat(5_000)).length).toBeLessThan(400)
})
