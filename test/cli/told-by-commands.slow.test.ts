import { expect, test } from "vitest"
import { ASKING, runToEnd, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"

const AGAIN = /^Meanwhile: /m

test("what `tasks answer` has shown the next chat does not announce again, and its agent is told the result", async () => {
  const directory = createFolder()
  const meanwhile = (...words: string[]) => runToEnd({ directory, arguments: words, environment: ASKING })
  // Before the first chat in a folder nothing counts as missed.
  await meanwhile()
  await meanwhile("run", "start an agent to run `touch made`")
  const [, id = ""] = /tasks answer ([0-9a-f]{8})/.exec((await meanwhile("tasks", "inbox")).stdout) ?? []
  expect((await meanwhile("tasks", "answer", id, "yes")).stdout).toMatch(new RegExp(`^\\[${id}\\] completed in`, "m"))
  const next = startPiped({ directory, arguments: ["--resume"], environment: ASKING })
  await next.shows(/subagent │ touch made has completed/)
  await next.shows(/\(about task [0-9a-f]{8}: subagent: run `touch made`\)/)
  next.endInput()
  expect(await next.exited).toBe(0)
  expect(next.shown()).not.toMatch(AGAIN)
})

test("what `tasks cancel` has shown the next chat does not announce again, and its model is told", async () => {
  const directory = createFolder()
  const chat = startPiped({ directory })
  chat.type("start `sleep 1000` in the background")
  const id = (await chat.shows(/as task [0-9a-f]{8}/)).slice(-8)
  // A command is handled once the turn's end is kept.
  chat.type("/tasks")
  await chat.shows(/running/)
  chat.kill("SIGKILL")
  await chat.exited
  const cancelled = await runToEnd({ directory, arguments: ["tasks", "cancel", id] })
  expect(cancelled.stdout).toMatch(new RegExp(`^\\[${id}\\] cancelled after`, "m"))
  const next = startPiped({ directory, arguments: ["--resume"] })
  await next.shows(new RegExp(`\\(about task ${id}: sleep 1000\\)\\n.*was cancelled`))
  next.endInput()
  expect(await next.exited).toBe(0)
  expect(next.shown()).not.toMatch(AGAIN)
})
