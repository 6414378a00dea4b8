import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { ASKING, startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const UP = "\u001b[A"

test("a message of several lines is one entry of what was typed, which survives a restart without answers", async () => {
  const directory = createFolder()
  const first = startInTerminal({ directory, environment: ASKING })
  await first.shows(/you talk with/)
  first.press("\u001b[200~say one\rtwo\u001b[201~")
  await first.shows(/pasted, 2 lines/)
  first.press("\r")
  await first.shows(/[\r\n]one\r\n[\s\S]*context \d+ %/)
  first.type("ask me which colour: red, green or blue")
  await first.asks(/\(a number from 1 to 3, or your own words; Ctrl\+C declines\)/)
  first.type("ultramarine")
  await first.shows(/✓ request_clarification[\s\S]*context \d+ %/)
  first.press(UP)
  await first.shows(/> ask me which colour: red, green or blue/)
  first.press(UP)
  await first.shows(/> say one␤two/)
  first.press("\x03")
  first.type("/quit")
  expect(await first.exited).toBe(0)
  expect(readFileSync(join(directory, ".meanwhile", "typed-lines"), "utf8")).not.toContain("ultramarine")

  const next = startInTerminal({ directory })
  await next.shows(/you talk with/)
  for (const typed of [/> \/quit/, /> ask me which colour: red, green or blue/, /> say one␤two/]) {
    next.press(UP)
    await next.shows(typed)
  }
  next.press("\r")
  await next.shows(/[\r\n]one\r\n[\s\S]*context \d+ %/)
  next.type("/quit")
  expect(await next.exited).toBe(0)
})
