import { expect, test } from "vitest"
import { createWarnings } from "./open-engine.ts"

test("without a log the person is told, each warning once", () => {
  const lines: string[] = []
  const warn = createWarnings({ tell: (line) => lines.push(line), isAway: () => false })
  for (let times = 0; times < 2; times++) {
    warn("the queue is in trouble", "it stands still")
    warn("Nothing is heard.")
  }
  expect(lines).toEqual(["The queue is in trouble: it stands still", "Nothing is heard."])
})

test("while the server is away no warning is told, and afterwards those that come again are", () => {
  const lines: string[] = []
  let isAway = true
  const warn = createWarnings({ tell: (line) => lines.push(line), isAway: () => isAway })
  warn("the queue is in trouble", "the server is away")
  expect(lines).toEqual([])
  isAway = false
  warn("the queue is in trouble", "it stands still")
  expect(lines).toEqual(["The queue is in trouble: it stands still"])
})

test("a log gets every warning, and nobody else is told", () => {
  const told: unknown[] = []
  const log = { warn: (...words: unknown[]) => void told.push(words) }
  const warn = createWarnings({ log, tell: (line) => told.push(line), isAway: () => true })
  warn("the queue is in trouble", "one")
  warn("the queue is in trouble", "two")
  expect(told).toEqual([
    ["the queue is in trouble", { error: "one" }],
    ["the queue is in trouble", { error: "two" }],
  ])
})
