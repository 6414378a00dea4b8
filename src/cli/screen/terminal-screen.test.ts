import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { createScreen } from "./create-screen.ts"

function open(columns: number) {
  const output = Object.assign(new PassThrough(), { isTTY: true, columns })
  let shown = ""
  output.setEncoding("utf8").on("data", (text: string) => (shown += text))
  return { output, screen: createScreen(output), shown: () => shown }
}

test("printed text breaks between words", () => {
  const { screen, shown } = open(20)
  screen.print("  a line that is longer than the screen")
  expect(shown()).toContain("  a line that is\n  longer than the\n  screen\n")
})

test("text that is written in whole lines breaks between words, too", () => {
  const { screen, shown } = open(20)
  screen.write("a line that is longer than the screen\nshort\n")
  expect(shown()).toContain("a line that is\nlonger than the\nscreen\nshort\n")
})

test("in a window that became narrower, activity is drawn over all the rows it takes now", () => {
  const { output, screen, shown } = open(60)
  screen.showActivity(["x".repeat(50), "short"])
  output.columns = 20
  const before = shown().length
  screen.showActivity(["done"])
  // Three rows of the first line, one of the second.
  expect(shown().slice(before).startsWith("\r\u001b[4A\u001b[Jdone\n")).toBe(true)
})
