import { expect, onTestFinished, test } from "vitest"
import { startInTerminal } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"
import { AWAY, useMortalServer } from "../support/cli/mortal-server.ts"

const server = useMortalServer()

test("a person who leaves after Ctrl+C behind an answer that is not written yet is told that its turn goes on", async () => {
  const words = ["--engine", await server.createStore()]
  const chat = startInTerminal({ directory: createFolder(), arguments: words })
  await chat.shows(/you talk with/)
  chat.type("count to 20 slowly")
  await chat.shows(/1 2 3/)
  await server.kill()
  onTestFinished(server.start)
  await chat.shows(AWAY)
  await chat.shows(/19 20[^]*tokens/)
  chat.press("\x03")
  await chat.shows(/hears of it when it is back/)
  chat.press("\x03")
  await chat.shows(/The answer goes on at the next start/)
  expect(await chat.exited).toBe(0)
})
