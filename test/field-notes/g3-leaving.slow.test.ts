import { describe, expect, test } from "vitest"
import { CONTROL, keep, type LeavingChat, openLeaving, startCommand, UNTIL_TOLD } from "../support/cli/leaving-chat.ts"
import { isLong } from "../support/chaos/seed.ts"
import { isAlive } from "../support/processes.ts"
import { isPostgres } from "../support/test-engine.ts"

const WAYS: Readonly<Record<string, (chat: LeavingChat) => Promise<unknown>>> = {
  async "/quit"(chat) {
    chat.type("/quit")
    await chat.shows(/4 tasks run/)
    await keep(chat)
    await chat.shows(/To come back: meanwhile --resume [0-9a-f]{8}/)
  },
  async "the end of input, Ctrl+D"(chat) {
    chat.press(CONTROL.d)
    await keep(chat)
  },
  async "Ctrl+C pressed twice"(chat) {
    chat.press(CONTROL.c)
    await chat.shows(/Ctrl\+C again leaves, and asks first/)
    chat.press(CONTROL.c)
    await keep(chat)
  },
  async "a window that is closed"(chat) {
    chat.closeWindow()
  },
}

/** The way out matters to the program, and hardly to the store. */
const ways = Object.entries(WAYS).slice(0, isPostgres && !isLong ? 1 : undefined)

describe("G3. Quitting by `/quit`, end of input, Ctrl+C twice or a closed window loses nothing that kill -9 would have kept", () => {
  test.each(ways)(
    "%s, with a command, an agent in mid-turn, a group and an open question, all told once at the next start",
    async (_way, leave) => {
      const { startChat, readPid, finish, tellsOnce } = await openLeaving()
      const chat = await startChat()
      const ids = [await startCommand(chat)]
      const pid = await readPid()
      chat.type("start an agent to ask me which colour: red or blue")
      await chat.shows(/asks: which colour|Answer: \/answer/)
      const until = "until test -e go; do sleep 0.05; done"
      chat.type(`run \`${until}; echo one\` and \`${until}; echo two\` together as pair`)
      await chat.shows(/pair[^]*context \d+ %/)
      chat.type("start an agent to count to 12 slowly")
      await chat.shows(/ · 1 call · /)
      await leave(chat)
      expect(await chat.exited).toBe(0)
      expect(isAlive(pid)).toBe(true)
      await finish()
      const shown = await tellsOnce(ids)
      expect(shown).toMatch(/one[^]*two/)
      expect(shown).toMatch(/count to 12 slowly/)
      expect(shown).toMatch(/1 task waits for your answer/)
    },
  )

  test("a chat beside another one names its own conversation to come back to", async () => {
    const { startChat, readPid, finish } = await openLeaving()
    const [first, second] = [await startChat(), await startChat()] as const
    first.type("say the first one")
    await first.shows(/the first one\r\n[^]*context \d+ %/)
    await startCommand(first)
    await readPid()
    second.type("say the second one")
    await second.shows(/the second one\r\n[^]*context \d+ %/)
    second.type("/quit")
    expect(await second.exited).toBe(0)
    first.type("/quit")
    await keep(first)
    const id = (await first.shows(/To come back: meanwhile --resume [0-9a-f]{8}/)).slice(-8)
    expect(await first.exited).toBe(0)
    const next = await startChat(["--resume", id])
    await next.shows(/> say the first one/)
    next.type("/quit")
    expect(await next.exited).toBe(0)
    await finish()
  })

  test("a command that an agent has in the foreground", async () => {
    const { startChat, readPid, finish, tellsOnce } = await openLeaving()
    const chat = await startChat()
    chat.type(`start an agent to run \`${UNTIL_TOLD}\``)
    const pid = await readPid()
    chat.type("/quit")
    await keep(chat)
    expect(await chat.exited).toBe(0)
    expect(isAlive(pid)).toBe(true)
    await finish()
    const told = await tellsOnce([])
    expect(told).toMatch(/subagent: run [^]*the last words/)
    expect(told).not.toMatch(/shut down/)
  })

  test("a command that an agent of `run --no-wait` has in the foreground", async () => {
    const { startPipe, readPid, finish, tellsOnce } = await openLeaving()
    const run = startPipe(["run", "--no-wait", `start an agent to run \`${UNTIL_TOLD}\``])
    run.endInput()
    const pid = await readPid()
    expect(await run.exited).toBe(0)
    expect(isAlive(pid)).toBe(true)
    await finish()
    expect(await tellsOnce([])).not.toMatch(/shut down/)
  })
})
