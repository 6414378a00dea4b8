import { beforeEach, describe, expect, it } from "vitest"
import type { PersonAnswer, Question } from "../../plugin/person-port.ts"
import { createRegistry } from "../../plugin/registry.ts"
import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionDirectory, SessionState } from "../../plugin/sessions-port.ts"
import type { CommandContext } from "../../plugin/user-command.ts"
import { createManualClock } from "../../base/manual-clock.ts"
import type { SessionId } from "../../task/id.ts"
import { createEngineSessionPlugin } from "./engine-session-plugin.ts"
import { toSessionConfig } from "./session-config.ts"
import { ADA, BOB, CAT, createDirectory, toState } from "../../../test/support/builtin/session-directory.ts"

let directory: SessionDirectory
let plugin: SessionPlugin
let switched: SessionId[]
let questions: Question[]
let answer: PersonAnswer
beforeEach(() => {
  directory = createDirectory([ADA, BOB, CAT])
  plugin = createEngineSessionPlugin({ directory })
  switched = []
  questions = []
  answer = { isAnswered: true, value: "yes", by: "me" }
})

async function run(name: string, argument = "", session: SessionState | null = ADA): Promise<string> {
  const context = {
    session: session?.id ?? null,
    sessions: { directory },
    signal: new AbortController().signal,
    state: async () => session,
    switchTo: async (id: SessionId) => void switched.push(id),
    person: {
      async ask(question: Question) {
        questions.push(question)
        return answer
      },
    },
  } as unknown as CommandContext
  const command = plugin.userCommands?.find((candidate) => candidate.name === name)
  const output = await command?.run(argument, context)
  if (typeof output !== "string") throw new Error(`/${name} showed nothing`)
  return output
}

describe("the list of conversations", () => {
  const list = [
    "* 1  aaaa1111  2026-01-02 12:01    2 turns  about aaaa1111-0000",
    "  2  aaaa2222  2026-01-02 12:00     1 turn  about aaaa2222-0000",
    "  3  cccc3333  2026-01-02 12:00    2 turns  run: cats and dogs",
    "/resume NUMBER or ID goes on with one.",
  ].join("\n")

  it("has the last used first, numbered, and marks the one the person is in", async () => {
    expect(await run("sessions")).toBe(list)
    expect(await run("resume")).toBe(list)
  })

  it("shows enough of the ids to tell them apart, and no more conversations than configured", async () => {
    directory = createDirectory(["12345678a", "12345678b", "9"].map((id) => toState(id)))
    plugin = createEngineSessionPlugin({ directory })
    await plugin.initialize?.({ maxKept: 2 })
    const shown = await run("sessions")
    expect(shown).toContain("12345678a")
    expect(shown).toContain("12345678b")
    expect(shown).toContain("and 1 older")
  })

  it("shows a description as one plain line, whatever is in it", async () => {
    const description = "\u001b[31mred\u0007\n\u202eevil\r" + "x".repeat(300)
    directory = createDirectory([toState("a", { description })])
    const [line = ""] = (await run("sessions")).split("\n")
    expect(line).toContain("red evil xxx")
    expect(line.length).toBeLessThan(170)
  })

  it("says when there are none", async () => {
    directory = createDirectory([])
    expect(await run("sessions")).toBe("There are no conversations yet.")
  })
})

describe("going on with another conversation", () => {
  it.each([
    ["2", BOB],
    ["cccc", CAT],
    [" cccc3333-0000 ", CAT],
  ])("finds %j", async (argument, { id }) => {
    expect(await run("resume", argument)).toContain(`Going on with ${id}`)
    expect(switched).toEqual([id])
  })

  it("lists the candidates of an ambiguous beginning, and switches to none", async () => {
    const refused = run("resume", "aaaa")
    await expect(refused).rejects.toMatchObject({ code: "ambiguous_id" })
    await expect(refused).rejects.toThrow(/aaaa1111-0000[^]*aaaa2222-0000/)
    expect(switched).toEqual([])
  })

  it("names the way out when there is no such conversation", async () => {
    await expect(run("resume", "99")).rejects.toThrow("There is no conversation 99. /sessions shows those there are.")
  })

  it("stays where the person is already", async () => {
    expect(await run("resume", "1")).toBe("You are in this conversation already.")
    expect(switched).toEqual([])
  })
})

describe("deleting a conversation", () => {
  it("asks first and deletes after a yes", async () => {
    expect(await run("delete-session", "cccc")).toBe("Deleted cccc3333-0000.")
    expect(questions).toMatchObject([{ kind: "approval", fallback: "no", detail: expect.stringContaining(CAT.id) }])
    expect(await directory.load(CAT.id)).toBeUndefined()
  })

  it.each<[PersonAnswer, string]>([
    [{ isAnswered: true, value: "no", by: "me" }, "Nothing was deleted."],
    [{ isAnswered: true, value: "yesterday", by: "me" }, "Nothing was deleted."],
    [{ isAnswered: false, reason: "nobody is there" }, "Nothing was deleted: nobody is there"],
  ])("deletes nothing after %o", async (given, message) => {
    answer = given
    expect(await run("delete-session", "cccc")).toBe(message)
    expect(await directory.load(CAT.id)).toEqual(CAT)
  })

  it("asks nothing when it is not clear which one, or when it is the one the person is in", async () => {
    await expect(run("delete-session", "aaaa")).rejects.toMatchObject({ code: "ambiguous_id" })
    await expect(run("delete-session", "2")).rejects.toMatchObject({ code: "not_found" })
    await expect(run("delete-session", "")).rejects.toThrow("/delete-session ID")
    await expect(run("delete-session", ADA.id)).rejects.toMatchObject({ code: "wrong_state" })
    expect(questions).toEqual([])
  })

  it("sends the person to another conversation only where there is one", async () => {
    await expect(run("delete-session", ADA.id)).rejects.toThrow("Go on with another one first: /resume ID.")
    for (const { id } of (await directory.list()).items) if (id !== ADA.id) await directory.delete(id)
    await expect(run("delete-session", ADA.id)).rejects.toThrow("Begin another one first, with a new start.")
  })
})

describe("saving in the engine", () => {
  it.each(["save", "sessions"])("/%s refuses a word that it does not understand", async (name) => {
    await expect(run(name, "notes")).rejects.toThrow(`/${name} does not understand "notes". Usage: /${name}`)
  })

  it("notes the time of a save: by hand, after every tenth turn, and at the end", async () => {
    const clock = createManualClock()
    const engine = createEngineSessionPlugin({ directory, clock })
    plugin = engine
    expect(engine.savedAt(ADA.id)).toBeUndefined()
    expect(await run("save")).toContain(`Saved as ${ADA.id}`)
    expect(engine.savedAt(ADA.id)).toBe(clock.now())
    expect(await run("save", "", null)).toBe("There is no conversation here to save.")

    for (let turns = 1; turns <= 10; turns++) {
      expect(engine.savedAt(BOB.id)).toBeUndefined()
      await engine.onTurnCompleted?.({ ...BOB, turns })
    }
    expect(engine.savedAt(BOB.id)).toBe(clock.now())

    await engine.onSessionEnded?.(CAT)
    expect(engine.savedAt(CAT.id)).toBe(clock.now())
  })

  it("does not save on exit when it is told not to", async () => {
    const engine = createEngineSessionPlugin({ directory })
    await engine.initialize?.({ autoSaveOnExit: false })
    await engine.onSessionEnded?.(CAT)
    expect(engine.savedAt(CAT.id)).toBeUndefined()
  })

  it("loads, lists, describes and deletes what the engine has", async () => {
    expect(await plugin.load(ADA.id)).toBe(ADA)
    expect((await plugin.list()).map(({ id }) => id)).toEqual([ADA.id, BOB.id, CAT.id])
    await plugin.setDescription(CAT.id, "the\ncat")
    expect((await directory.load(CAT.id))?.description).toBe("the cat")
    expect(await plugin.delete(CAT.id)).toBe(true)
    expect(await plugin.delete(CAT.id)).toBe(false)
    expect(await plugin.onSessionStarted?.(ADA.id, directory)).toBeUndefined()
  })
})

describe("the plugin", () => {
  it("refuses a configuration that makes no sense, and names the key", () => {
    expect(toSessionConfig()).toEqual({
      plugin: "engine",
      storagePath: ".meanwhile/sessions",
      autoSaveOnExit: true,
      checkpointAfterTurns: 10,
      requestDescriptionAfterTurns: 3,
      retentionSeconds: null,
      maxKept: 20,
    })
    expect(toSessionConfig({ maxSessions: 3 })).toEqual(toSessionConfig({ maxKept: 3 }))
    expect(() => plugin.initialize?.({ maxKept: 0 })).toThrow("maxKept")
    expect(() => plugin.initialize?.({ path: "x" })).toThrow("path")
  })

  it("is one like any other: a registry takes it with its configuration", async () => {
    const registry = createRegistry()
    await registry.register(plugin, { config: { maxKept: 5 } })
    expect(registry.toolSchemas().map(({ name }) => name)).toEqual(["session_describe"])
  })
})
