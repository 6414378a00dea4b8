import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const QUICK = { MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "0.2" }

test("Ctrl+C stops the command in the foreground, and the prompt goes on", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/Meanwhile: you talk with/)
  program.type("/run echo begun; sleep 1000")
  await program.shows(/begun\r\n/)
  program.press("\x03")
  await program.shows(/cancelled: Ctrl\+C/)
  program.type("/run echo alive")
  await program.shows(/[\r\n]alive\r\n/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("Ctrl+C ends the display of a long output, and the chat stays", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.type("/start seq 1 2000000")
  const [id = ""] = /[0-9a-f]{8}/.exec(await program.shows(/\[[0-9a-f]{8}\] completed in[\s\S]*its last lines/)) ?? []
  const shownBefore = program.shown().length
  program.type(`/output ${id}`)
  await program.shows(/\n5000\r\n/)
  program.press("\x03")
  program.type("/groups")
  await program.shows(/No groups yet/)
  expect(program.shown().slice(shownBefore)).not.toContain("\n2000000\r\n")
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("an announcement leaves the line being typed as it is", async () => {
  const directory = createFolder()
  const program = startInTerminal({ directory, environment: QUICK })
  program.type("/run until test -e go; do sleep 0.02; done")
  await program.shows(/still runs/)
  const other = startInTerminal({ directory })
  program.press("/help")
  other.type("/run touch go")
  await program.shows(/completed in [\s\S]*> \/help/)
  program.press("\r")
  await program.shows(/\/run CMD/)
  program.type("/quit")
  other.type("/quit")
  expect(await program.exited).toBe(0)
  expect(await other.exited).toBe(0)
})

test("output that does not end its line stays on the screen", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/Meanwhile: you talk with/)
  program.type("/run printf foo")
  await program.shows(/[\r\n]foo\r\n[^\n]*> /)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("Ctrl+C takes back what was typed, and on an empty line asks once", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/Meanwhile: you talk with/)
  program.press("/run echo half")
  await program.shows(/\/run echo half/)
  program.press("\x03")
  program.type("/whole")
  await program.shows(/There is no command \/whole\./)
  program.press("\x03")
  await program.shows(/Ctrl\+C again leaves/)
  program.type("/still-here")
  await program.shows(/There is no command \/still-here\./)
  program.press("\x03")
  await program.shows(/Ctrl\+C again leaves/)
  program.press("/run echo begun")
  await program.shows(/\/run echo begun/)
  program.press("\x03")
  program.type("/not-left")
  await program.shows(/There is no command \/not-left\./)
  program.press("\x03")
  await program.shows(/Ctrl\+C again leaves/)
  program.press("\x03")
  expect(await program.exited).toBe(0)
})

test("a chat starts and leaves even if it cannot record which ends it has announced", async () => {
  const directory = createFolder()
  mkdirSync(join(directory, ".meanwhile", "announced"), { recursive: true })
  const program = startInTerminal({ directory })
  await program.shows(/> /)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("with onExit stop, the first Ctrl+C says that the second stops the chat's work, which it then does", async () => {
  const environment = { ...QUICK, MEANWHILE_ON_EXIT: "stop" }
  const program = startInTerminal({ directory: createFolder(), environment })
  program.type("/run sleep 1000")
  await program.shows(/still runs/)
  program.press("\x03")
  await program.shows(/Ctrl\+C again leaves, and stops this chat's work in the background/)
  program.press("\x03")
  await program.shows(
    /Cancelling 1 task\. To\s+run\s+it\s+again:\s+meanwhile\s+tasks\s+retry\s+ID[^]*\[\w{8}\] sleep 1000/,
  )
  expect(await program.exited).toBe(0)
})

test("a run in a terminal is shown line by line, with its events in between", async () => {
  const program = startInTerminal({ directory: createFolder(), arguments: ["run", "run `echo below`, then say ready"] })
  expect(await program.exited).toBe(0)
  expect(program.shown()).toMatch(/• run_command echo below\r\n {2}│ below\r\n✓ run_command [\s\S]*\nready\r\n.*tokens/)
  expect(program.raw()).not.toContain("\u001b[J")
})
