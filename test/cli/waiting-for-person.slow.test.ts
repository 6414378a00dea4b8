import { expect, test } from "vitest"
import { startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

test("every list shows that a task waits for a person, and the task stays when the person leaves", async () => {
  const directory = createFolder()
  const program = startInTerminal({ directory })
  await program.shows(/you talk with/)
  program.type("start an agent to ask me which colour: red, green or blue")
  const agent = (await program.shows(/started [0-9a-f]{8}: /)).slice(8, 16)
  const id = (await program.shows(/\[[0-9a-f]{8}\] The agent asks: which colour\r\n[^]*? {2}1\) red/)).slice(1, 9)
  await program.shows(/\? subagent: waiting for you: \/inbox/)
  program.type("/agents")
  await program.shows(/subagent +waits for you: \/inbox/)
  program.type(`/task ${agent}`)
  await program.shows(/waits {5}for your answer, for [\s\S]*\] The agent asks: which colour\r\n[\s\S]*Answer: \/answer/)
  program.type(`/task ${id}`)
  await program.shows(/waits {5}for your answer, for [\s\S]*Answer: \/answer/)
  program.type("/quit")
  await program.shows(/1 question stays in the inbox: \/inbox in the next chat, or meanwhile tasks inbox/)
  expect(await program.exited).toBe(0)
  expect(program.shown()).not.toContain("Stopping")
  const next = startPiped({ directory, arguments: ["--resume"] })
  await next.shows(/1 task waits for your answer: see \/inbox/)
  next.endInput()
  await next.shows(/1 question stays in the inbox/)
  expect(await next.exited).toBe(0)
  expect(next.shown()).not.toMatch(/elsewhere/)
})
