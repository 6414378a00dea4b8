import { expect, test } from "vitest"
import { ASKING, startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const paste = (text: string): string => `\u001b[200~${text}\u001b[201~`

test("a paste is one message, which Enter sends", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.press(paste("say one\rtwo\rthree"))
  await program.shows(/\(pasted, 3 lines: Enter sends it, Ctrl\+C takes it back\)[\s\S]*… three/)
  program.press("\r")
  await program.shows(/[\r\n]one\r\n[\s\S]*context \d+ %/)
  program.type("/context")
  await program.shows(/, 2 messages, 1 turn/)
  program.press(paste("never\rsaid\r"))
  await program.shows(/pasted, 2 lines/)
  program.press("\x03")
  program.type("/context")
  await program.shows(/, 2 messages, 1 turn/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
  expect(program.raw()).toContain("\u001b[?2004h")
  expect(program.raw().lastIndexOf("\u001b[?2004l")).toBeGreaterThan(program.raw().lastIndexOf("\u001b[?2004h"))
})

test("a line that ends with a backslash goes on with the next", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.type("/run echo one;\\")
  await program.shows(/\r… /)
  program.type("echo two")
  await program.shows(/[\r\n]one\r\n[\s\S]*two\r\n/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("commands work while a question is open, and the question is then shown again", async () => {
  const program = startInTerminal({ directory: createFolder(), environment: ASKING })
  await program.shows(/you talk with/)
  program.type("write file first.txt with buy milk")
  await program.asks(/Allow writeNewFile\?[\s\S]*Ctrl\+C declines\)/)
  program.type("/inbox")
  await program.asks(/Nothing waits for your answer\.[\s\S]*Allow writeNewFile\?[\s\S]*Ctrl\+C declines\)/)
  program.type("maybe")
  await program.shows(/Answer with y, n, a \(that is 3\) or a number from 1 to 3\./)
  program.type("y")
  await program.shows(/✓ writeNewFile/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("own words answer a question with options, and the hint names no letters that stand for nothing", async () => {
  const program = startInTerminal({ directory: createFolder(), environment: ASKING })
  await program.shows(/you talk with/)
  program.type("ask me which colour: red, green or blue")
  await program.asks(/\(a number from 1 to 3, or your own words; Ctrl\+C declines\)/)
  program.type("/etc/colours")
  await program.shows(/✓ request_clarification[\s\S]*\/etc\/colours/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("--yes says at the start what it means, and shows it at every prompt", async () => {
  const program = startInTerminal({ directory: createFolder(), arguments: ["--yes"] })
  await program.shows(/--yes: every approval is given without asking[\s\S]*!> /)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})
