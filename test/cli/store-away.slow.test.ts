import { expect, onTestFinished, test } from "vitest"
import { startProxy } from "../support/postgres/proxy.ts"
import { eventually } from "../support/eventually.ts"
import { runToEnd, startInTerminal, startPiped } from "../support/program.ts"
import { createFolder } from "../support/workplace.ts"
import { AWAY, BACK, useMortalServer } from "../support/cli/mortal-server.ts"

const server = useMortalServer()

/** Starts a chat in which one message was said and answered. */
async function startChat() {
  const chat = startInTerminal({ directory: createFolder(), arguments: ["--engine", await server.createStore()] })
  await chat.shows(/you talk with/)
  chat.type("say first")
  await chat.shows(/first\s[^]*tokens/)
  return chat
}

/** The lines of a chat from `/quit` on. */
function toLeaving(shown: string): string {
  return shown.slice(shown.lastIndexOf("/quit")).replaceAll(/\s+/g, " ")
}

/** A chat whose answer was stopped while the store is away; the store stays away. */
async function stopAnswerWhileAway() {
  const directory = createFolder()
  const words = ["--engine", await server.createStore()]
  const chat = startInTerminal({ directory, arguments: words })
  await chat.shows(/you talk with/)
  chat.type("count to 400 slowly")
  await chat.shows(/1 2 3/)
  await server.kill()
  await chat.shows(AWAY)
  chat.press("\x03")
  await chat.shows(/the turn was stopped/)
  return { chat, directory, words }
}

test("a chat says when its store goes away and is back, and then carries out what was typed meanwhile", async () => {
  const chat = await startChat()
  await server.kill()
  await chat.shows(AWAY)
  chat.type("say this was typed meanwhile")
  await chat.shows(/the store does not answer; it is tried again/)
  chat.type("/tasks")
  await chat.shows(/the store does not answer; it is tried again/)
  await server.start()
  // Either may come first.
  await eventually("it is told that the store is back", () => BACK.test(chat.shown()))
  await eventually("it is answered", () => /\d tokens[^]*this was typed meanwhile[^]*\d tokens/.test(chat.shown()))
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
})

test("Ctrl+C stops an answer while the store is away, and the part that was said is kept when the store is back", async () => {
  const { chat, directory, words } = await stopAnswerWhileAway()
  expect(BACK.test(chat.shown())).toBe(false)
  await server.start()
  await chat.shows(BACK)
  await eventually("the turn is cancelled", async () => {
    const { stdout } = await runToEnd({ directory, arguments: ["tasks", "list", "--all", ...words] })
    return /cancelled +[\d.]+ m?s +count to 400 slowly/.test(stdout)
  })
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  const again = startInTerminal({ directory, arguments: [...words, "--resume"] })
  await again.shows(/count to 400 slowly\s[^]*1 2 3/)
  again.type("say afterwards")
  await again.shows(/[\r\n]afterwards\s[^]*tokens/)
  again.type("/quit")
  expect(await again.exited).toBe(0)
})

test("Ctrl+C before an answer, while the store is away, is heard at once, and later stops the turn", async () => {
  const chat = startInTerminal({ directory: createFolder(), arguments: ["--engine", await server.createStore()] })
  chat.type("/tasks")
  await chat.shows(/No tasks yet/)
  await server.kill()
  await chat.shows(AWAY)
  chat.type("count to 400 slowly")
  await chat.shows(/the store does not answer; it is tried again/)
  chat.press("\x03")
  await chat.shows(/\(stopped; the store is away, and hears of it when it is back\)/)
  await server.start()
  await chat.shows(/\(the turn was stopped\)/)
  expect(chat.shown()).not.toContain("1 2 3")
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
})

test("a person who leaves while the store is away stops nothing, and the next chat goes on with the tasks", async () => {
  const directory = createFolder()
  const words = ["--engine", await server.createStore()]
  const chat = startInTerminal({ directory, arguments: words })
  await chat.shows(/you talk with/)
  chat.type("/start sleep 1000")
  const id = (await chat.shows(/\[\w{8}\] is (?:running|queued)/)).slice(1, 9)
  chat.type("/tasks")
  await chat.shows(/1 running/)
  await server.kill()
  await chat.shows(AWAY)
  chat.type("/quit")
  await chat.shows(/The store is away\. What was not written yet is found at the next start/)
  expect(await chat.exited).toBe(0)
  expect(toLeaving(chat.shown())).not.toContain("cannot be reached")
  await server.start()
  const again = startInTerminal({ directory, arguments: words })
  await again.shows(/you talk with/)
  await again.shows(/1 task goes on from before/)
  again.type(`/cancel ${id}`)
  await again.shows(new RegExp(`\\[${id}\\] cancelled`))
  again.type("/quit")
  expect(await again.exited).toBe(0)
})

test("a person who stops an answer while the store is away, and leaves, is told how to stop it later", async () => {
  const { chat, directory, words } = await stopAnswerWhileAway()
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  const leaving = toLeaving(chat.shown())
  expect(leaving).not.toMatch(/may not have kept|The turn that runs/)
  const [, turn = ""] = /The stop could not be saved: .* tasks cancel ([0-9a-f]{8})/.exec(leaving) ?? []
  await server.start()
  expect(turn, leaving).not.toBe("")
  const cancelled = await runToEnd({ directory, arguments: ["tasks", "cancel", turn, ...words] })
  expect(cancelled).toMatchObject({ exitCode: 0 })
  const { stdout } = await runToEnd({ directory, arguments: ["tasks", "list", "--all", ...words] })
  expect(stdout).toMatch(/cancelled .*count to 400 slowly/)
})

test("a chat can be left at once while its store is away, and gives back messages that were not kept", async () => {
  const chat = await startChat()
  await server.kill()
  onTestFinished(server.start)
  await chat.shows(AWAY)
  chat.type("say never heard")
  await chat.shows(/the store does not answer; it is tried again/)
  chat.type("/quit")
  await chat.shows(/(not said|may not have kept what you said):\s+say never heard/)
  expect(await chat.exited).toBe(0)
  expect(toLeaving(chat.shown())).not.toContain("cannot be reached")
})

test("a command that the store did not keep is given back to the person who leaves", async () => {
  const chat = await startChat()
  await server.kill()
  onTestFinished(server.start)
  await chat.shows(AWAY)
  chat.type("/start echo never started")
  chat.type("/tasks")
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  expect(toLeaving(chat.shown())).not.toContain("cannot be reached")
  expect(chat.shown()).toMatch(/may not have kept what you said:\s+\/start echo never started\s*$/)
})

test("a person who leaves while the store hangs is told that it is away, and not of every call that waited for it", async () => {
  await using proxy = await startProxy(await server.createStore())
  const chat = startInTerminal({ directory: createFolder(), arguments: ["--engine", proxy.url, "--concurrency", "0"] })
  await chat.shows(/you talk with/)
  chat.type("/start sleep 1000")
  await chat.shows(/is queued/)
  proxy.onRequest = () => "hold"
  await chat.shows(AWAY)
  chat.type("say never heard")
  await chat.shows(/the store does not answer; it is tried again/)
  chat.press("\x03")
  await chat.shows(/\(stopped; the store is away/)
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  expect(toLeaving(chat.shown())).not.toContain("cannot be reached")
  expect(toLeaving(chat.shown())).toMatch(/The store is away.*may not have kept what you said: say never heard/)
})

test("Ctrl+C at a command that waits for the store says what becomes of the command", async () => {
  const chat = await startChat()
  await server.kill()
  onTestFinished(server.start)
  await chat.shows(AWAY)
  chat.type("/tasks")
  await chat.shows(/the store does not answer; it is tried again/)
  chat.press("\x03")
  await chat.shows(/\(the store is away; what a command has asked of it is done when it is back\)/)
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
})

test("an agent that goes on elsewhere is not reported as failed when a chat is left while its store is away", async () => {
  const chat = await startChat()
  chat.type("start an agent to count to 400 slowly")
  await chat.shows(/ · 1 call · /)
  await server.kill()
  onTestFinished(server.start)
  await chat.shows(AWAY)
  chat.type("/quit")
  expect(await chat.exited).toBe(0)
  expect(chat.shown()).toMatch(/What was not written yet is found at the next start/)
  expect(chat.shown()).not.toMatch(/turn failed|Connection terminated/)
})

test("a run that is stopped while its store is away ends soon, and says so, with --json as its result", async () => {
  const url = await server.createStore()
  const words = ["run", "count to 90 slowly", "--json", "--engine", url]
  const run = startPiped({ directory: createFolder(), arguments: words })
  run.endInput()
  await run.shows(/"type":"content.delta"/)
  await server.kill()
  onTestFinished(server.start)
  await run.shows(AWAY)
  run.kill("SIGINT")
  expect(await run.exited).toBe(3)
  const shown = run.shown()
  expect(shown).toMatch(
    /\nmeanwhile: stopped while the store is away; what was not written yet is found by the next start\n/,
  )
  const result = shown.split("\n").find((line) => line.startsWith('{"type":"result"')) ?? ""
  expect(JSON.parse(result)).toMatchObject({ outcome: "stopped", error: expect.stringMatching(/the store is away/) })
})
