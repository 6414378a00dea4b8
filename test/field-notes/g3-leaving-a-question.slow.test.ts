import { describe, expect, test } from "vitest"
import { isLong } from "../support/chaos/seed.ts"
import { CONTROL, openLeaving, type LeavingChat } from "../support/cli/leaving-chat.ts"
import { ASKING } from "../support/program.ts"
import { isPostgres } from "../support/test-engine.ts"

const ALLOW = /Allow writeNewFile\?[^]*\? (?!waiting)/

const WAYS: Readonly<Record<string, (chat: LeavingChat) => Promise<unknown>>> = {
  async "/quit, then Enter"(chat) {
    chat.type("/quit")
    await chat.asks(/1 answer waits for your decision\. Leave, and keep it going\?/)
    chat.type("")
    await chat.shows(/The answer waits for your decision\. To be asked again: meanwhile --resume/)
  },
  async "Ctrl+D twice"(chat) {
    chat.press(CONTROL.d)
    await chat.shows(/Leave, and keep it going\?/)
    chat.press(CONTROL.d)
  },
  async "a window that is closed"(chat) {
    chat.closeWindow()
  },
}

/** The way out matters to the program, and hardly to the store. */
const ways = Object.entries(WAYS).slice(0, isPostgres && !isLong ? 1 : undefined)

describe("G3. Leaving while a question is open keeps the turn, and the next chat puts the question again", () => {
  test.each(ways)("%s", async (_way, leave) => {
    const { startChat } = await openLeaving(ASKING)
    const chat = await startChat()
    chat.type("write file notes.txt with hi")
    await chat.shows(ALLOW)
    await leave(chat)
    expect(await chat.exited).toBe(0)
    const next = await startChat(["--resume"])
    await next.shows(ALLOW)
    await leave(next)
    expect(await next.exited).toBe(0)
    const last = await startChat(["--resume"])
    await last.shows(ALLOW)
    last.type("y")
    await last.shows(/context \d+ %/)
    last.type("/quit")
    expect(await last.exited).toBe(0)
  })

  test("a person who stays sees the question again, and /quit, then s stops the turn", async () => {
    const { startChat } = await openLeaving(ASKING)
    const chat = await startChat()
    chat.type("write file notes.txt with hi")
    await chat.shows(ALLOW)
    chat.type("/quit")
    await chat.asks(/Leave, and keep it going\?/)
    chat.type("n")
    await chat.shows(/you stay[^]*Allow writeNewFile\?[^]*\? (?!waiting)/)
    chat.type("/quit")
    await chat.asks(/Leave, and keep it going\?/)
    chat.type("s")
    expect(await chat.exited).toBe(0)
    const next = await startChat(["--resume"])
    next.type("/tasks")
    next.type("/quit")
    expect(await next.exited).toBe(0)
    expect(next.shown()).not.toMatch(ALLOW)
  })
})
