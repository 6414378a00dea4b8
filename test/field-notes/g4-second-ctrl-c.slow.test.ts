import { expect, test } from "vitest"
import { CONTROL, openLeaving, startCommand } from "../support/cli/leaving-chat.ts"
import { isAlive } from "../support/processes.ts"

test("G4. A second Ctrl+C never ends background work without having said so", async () => {
  const { startChat, readPid } = await openLeaving()
  const chat = await startChat()
  const id = await startCommand(chat)
  const pid = await readPid()
  chat.type("count to 400 slowly")
  await chat.shows(/1 2 3/)
  chat.press(CONTROL.c)
  await chat.shows(/\(stopped\) Ctrl\+C again leaves, and asks first what becomes of work in the background/)
  chat.press(CONTROL.c)
  await chat.asks(new RegExp(`\\[${id}\\][^]*1 task runs\\. Leave, and keep it going\\?`))
  chat.type("n")
  await chat.shows(/\(you stay\)/)
  expect(isAlive(pid)).toBe(true)
  chat.type("/quit")
  await chat.asks(/Leave, and keep it going\?[^]*s: stop it/)
  expect(isAlive(pid)).toBe(true)
  chat.type("s")
  await chat.shows(new RegExp(`Cancelling 1 task\\.[^]*\\[${id}\\]`))
  expect(await chat.exited).toBe(0)
  expect(isAlive(pid)).toBe(false)
})
