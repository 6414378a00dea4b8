import { expect, test } from "vitest"
import { openLeaving, startCommand, UNTIL_TOLD } from "../support/cli/leaving-chat.ts"
import { eventually } from "../support/eventually.ts"
import { isAlive } from "../support/processes.ts"
import { testOfFile } from "../support/test-engine.ts"

test("G2. Quitting one chat stops nothing that another chat asked for", async () => {
  const { startPipe, readPid, finish } = await openLeaving()
  const quitting = startPipe(["--on-exit", "stop"])
  const own = await startCommand(quitting, "echo $$ > own.pid; exec sleep 300")
  const ownPid = await readPid("own.pid")
  // It runs nothing itself, so the other chat runs what it asks for.
  const staying = startPipe(["--concurrency", "0"])
  const asked = await startCommand(staying, UNTIL_TOLD)
  const askedPid = await readPid()
  quitting.type("/quit")
  await quitting.shows(new RegExp(`Cancelling 1 task\\.[^]*\\[${own}\\]`))
  await quitting.shows(
    new RegExp(`1 task goes on without this program, with a keeper \\(pid \\d+\\):\\s+\\[${asked}\\]`),
  )
  expect(await quitting.exited).toBe(0)
  expect([isAlive(ownPid), isAlive(askedPid)]).toEqual([false, true])
  const finished = finish()
  await staying.shows(new RegExp(`\\[${asked}\\] completed`))
  staying.endInput()
  expect(await staying.exited).toBe(0)
  await finished
})

test("G2. What a chat that was killed had asked for is named by the chat that took it over, and `s` stops it", async () => {
  const { startChat, startPipe, readPid } = await openLeaving()
  const killed = startPipe()
  const id = await startCommand(killed)
  const pid = await readPid()
  killed.kill("SIGKILL")
  await killed.exited
  const chat = await startChat()
  await eventually("the chat has taken the task over", async () => {
    const looking = startPipe(["workers", "--json"])
    await looking.exited
    return looking.shown().match(new RegExp(`"pid":${chat.pid},[^\\n]*"running":1`))
  })
  chat.type("/quit")
  await chat.asks(new RegExp(`\\[${id}\\][^]*1 task runs\\. Leave, and keep it going\\?`))
  chat.type("s")
  await chat.shows(new RegExp(`Cancelling 1 task\\.[^]*\\[${id}\\]`))
  expect(await chat.exited).toBe(0)
  expect(isAlive(pid)).toBe(false)
})

// On a server the other conversation may be somebody else's.
testOfFile(
  "G2. `s` also stops the answer that a chat which was killed was making in another conversation",
  async () => {
    const { startChat, startPipe } = await openLeaving()
    const killed = startPipe()
    killed.type("count to 400 slowly")
    await killed.shows(/1 2 3/)
    killed.kill("SIGKILL")
    await killed.exited
    const chat = await startChat()
    await chat.shows(/the turn goes on after an interruption/)
    chat.type("/quit")
    await chat.asks(/\[[0-9a-f]{8}\] answer: count to 400 slowly\s+An answer is under way\. Leave, and keep it going\?/)
    chat.type("s")
    await chat.shows(/Cancelling 1 answer\.\s+\[[0-9a-f]{8}\] answer: count to 400 slowly/)
    expect(await chat.exited).toBe(0)
    expect(chat.shown()).not.toMatch(/without this program/)
  },
)

test("G2. The question about leaving says that what another chat asked for goes on in any case, and `s` lets it", async () => {
  const { startChat, startPipe, readPid, finish } = await openLeaving()
  const chat = await startChat()
  const own = await startCommand(chat, "echo $$ > own.pid; exec sleep 300")
  const ownPid = await readPid("own.pid")
  const staying = startPipe(["--concurrency", "0"])
  const asked = await startCommand(staying, UNTIL_TOLD)
  const askedPid = await readPid()
  chat.type("/quit")
  await chat.asks(
    /1 task runs\. Leave, and keep it going\?\s+\(1 task that was not asked for in this chat goes on in any case\)/,
  )
  chat.type("s")
  await chat.shows(new RegExp(`Cancelling 1 task\\.[^]*\\[${own}\\]`))
  await chat.shows(new RegExp(`1 task goes on without this program, with a keeper \\(pid \\d+\\):\\s+\\[${asked}\\]`))
  expect(await chat.exited).toBe(0)
  expect([isAlive(ownPid), isAlive(askedPid)]).toEqual([false, true])
  staying.type("/quit")
  expect(await staying.exited).toBe(0)
  await finish()
})

test("G2. A chat that leaves names what another chat has begun for the same conversation, and stops none of it", async () => {
  const { startPipe, readPid, finish } = await openLeaving()
  const first = startPipe()
  first.type("say hello")
  await first.shows(/hello\n/)
  const startSecond = () => startPipe(["--resume", "--on-exit", "stop", "--concurrency", "0"])
  const early = startSecond()
  early.type("/tasks")
  await early.shows(/No tasks yet/)
  first.type(`start \`${UNTIL_TOLD}\` in the background`)
  const id = (await first.shows(/started [0-9a-f]{8}: /)).slice(8, 16)
  const pid = await readPid()
  const late = startSecond()
  await late.shows(/1 task runs elsewhere/)
  for (const leaving of [early, late]) {
    leaving.type("/quit")
    await leaving.shows(new RegExp(`1 task goes on with other programs:\\s+\\[${id}\\]`))
    expect(await leaving.exited).toBe(0)
    expect(leaving.shown()).not.toContain("Cancelling")
  }
  expect(isAlive(pid)).toBe(true)
  const finished = finish()
  await first.shows(new RegExp(`\\[${id}\\] completed`))
  first.endInput()
  expect(await first.exited).toBe(0)
  await finished
})
