import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

test("queued messages that were not said are shown when leaving", async () => {
  const program = startInTerminal({ directory: createFolder() })
  await program.shows(/you talk with/)
  program.type("count to 400 slowly")
  await program.shows(/1 2 /)
  program.type("say remember the milk")
  await program.shows(/queued: the model hears it when it has answered; Ctrl\+C/)
  program.type("/quit")
  await program.shows(/Queued and not said:\r\n {2}say remember the milk\r\n/)
  expect(await program.exited).toBe(0)
})

test("SIGTERM ends a chat whose input had ended before it had begun", async () => {
  const directory = createFolder()
  const first = startPiped({ directory, arguments: ["--concurrency", "0"] })
  first.type("/start sleep 1000")
  await first.shows(/is queued/)
  first.type("/quit")
  expect(await first.exited).toBe(0)
  const second = startPiped({ directory, arguments: ["--yes"] })
  second.endInput()
  await second.shows(/every approval is given/)
  second.kill("SIGTERM")
  expect(await second.exited).toBe(0)
})

test("a message that is queued during a call says when the call moves to the background", async () => {
  const directory = createFolder()
  const program = startInTerminal({ directory })
  await program.shows(/you talk with/)
  program.type("run `until test -e go; do sleep 0.02; done`")
  await program.shows(/• run_command/)
  program.type("say afterwards")
  await program.shows(/what it waits for\s+moves\s+to\s+the\s+background\s+after\s+\d+\.\d\s+s/)
  program.type("/run touch go")
  await program.shows(/[\r\n]afterwards\r\n/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("a new chat names the last conversation, and going on with that one shows its last messages", async () => {
  const directory = createFolder()
  const first = startPiped({ directory })
  first.type("say the milk is gone")
  first.endInput()
  expect(await first.exited).toBe(0)
  const program = startInTerminal({ directory })
  const shown = await program.shows(
    /\/resume [0-9a-f]{8} goes on with the last conversation \(say the milk is gone\), as --resume does/,
  )
  program.type("/sessions")
  await program.shows(/1 turn +say the milk is gone/)
  program.type(shown.slice(0, "/resume 01234567".length))
  await program.shows(/Going on with [\s\S]*> say the milk is gone\r\n[\s\S]*the milk is gone\r\n/)
  program.type("/quit")
  expect(await program.exited).toBe(0)
})

test("a conversation whose first turn was cut off counts as the last one, as for --resume", async () => {
  const directory = createFolder()
  await runToEnd({ directory }, "say the milk is gone\n")
  const second = startInTerminal({ directory })
  await second.shows(/you talk with/)
  second.type("count to 400 slowly")
  await second.shows(/1 2 /)
  second.type("/quit")
  expect(await second.exited).toBe(0)
  const third = startInTerminal({ directory })
  await third.shows(/goes on with the last conversation \(count to 400 slowly\), as --resume does/)
  third.type("/quit")
  expect(await third.exited).toBe(0)
})

test("the start names a command file that has the name of a built-in command", async () => {
  const directory = createFolder()
  mkdirSync(join(directory, ".meanwhile", "commands"), { recursive: true })
  writeFileSync(join(directory, ".meanwhile", "commands", "tasks.md"), "say hello\n")
  const program = startPiped({ directory, arguments: ["--trust"] })
  program.endInput()
  expect(await program.exited).toBe(0)
  expect(program.shown()).toContain("/tasks of slash_command cannot be used: there is a built-in command of that name.")
})

test("an answer that goes on in the conversation before is named when the chat is left, and is stopped by a stop", async () => {
  const directory = createFolder()
  const { stderr } = await runToEnd({ directory, arguments: ["run", "say hello"] })
  const [, first = ""] = /session ([0-9a-f]{8}), to go on/.exec(stderr) ?? []
  const program = startInTerminal({ directory, environment: { MEANWHILE_ON_EXIT: "ask" } })
  await program.shows(/you talk with/)
  program.type("count to 400 slowly")
  await program.shows(/1 2 /)
  program.type(`/resume ${first}`)
  await program.shows(/Going on with/)
  program.type("/quit")
  await program.asks(
    /\[[0-9a-f]{8}\] answer: count to 400 slowly\s+An answer is under way\. Leave, and keep it going\?/,
  )
  program.type("s")
  await program.shows(/Cancelling 1 answer\.\s+\[[0-9a-f]{8}\] answer: count to 400 slowly/)
  expect(await program.exited).toBe(0)
  expect(program.shown()).not.toMatch(/without this program/)
})
