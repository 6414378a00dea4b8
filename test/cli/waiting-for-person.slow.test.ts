import { expect, test } from "vitest"
import { ASKING, runToEnd, startInTerminal, startPiped } from "../support/program.ts"
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

test("a task that only an answer brings on is not shown as one that lacks a worker", async () => {
  const directory = createFolder()
  const meanwhile = async (...words: string[]) =>
    (await runToEnd({ directory, arguments: words, environment: ASKING })).stdout
  await meanwhile("run", "start an agent to run `touch made`")
  const listed = await meanwhile("tasks")
  expect(listed).toMatch(
    /^[0-9a-f]{8} {2}queued .* {2}subagent: run `touch made` · needs you\n[0-9a-f]{8} {2}waiting .* touch made · needs you\n1 question waits for your answer: see meanwhile tasks inbox\n/,
  )
  expect(await meanwhile("tasks", "show", listed.slice(0, 8))).toMatch(/^waits {5}for your answer, for .*$/m)
})

test("an answer says when the agent that asked needs another one", async () => {
  const directory = createFolder()
  const meanwhile = async (...words: string[]) =>
    (await runToEnd({ directory, arguments: words, environment: ASKING })).stdout
  await meanwhile("run", "start an agent to run `touch one` and `touch two`")
  const ids = [...(await meanwhile("tasks", "inbox")).matchAll(/tasks answer ([0-9a-f]{8})/g)].map(([, id = ""]) => id)
  expect(ids).toHaveLength(2)
  const [first = "", second = ""] = ids
  expect(await meanwhile("tasks", "answer", first, "yes")).toMatch(
    /^its agent [0-9a-f]{8} needs another answer: meanwhile tasks inbox$/m,
  )
  expect(await meanwhile("tasks", "answer", second, "yes")).toMatch(/^its agent [0-9a-f]{8} goes on at the next start/m)
})
