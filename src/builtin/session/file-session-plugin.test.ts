import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { CommandContext } from "../../plugin/user-command.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import { createFileSessionPlugin, type FileSessionPlugin } from "./file-session-plugin.ts"
import { createDirectory, toState } from "../../../test/support/builtin/saved-sessions.ts"

let root: string
let folder: string
let plugin: FileSessionPlugin
let engine: ReturnType<typeof createDirectory>
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "meanwhile-session-"))
  folder = join(root, ".meanwhile", "sessions")
  engine = createDirectory()
  plugin = createFileSessionPlugin({ directory: engine.directory, workingDirectory: root })
})
afterEach(() => rm(root, { recursive: true, force: true }))

const idOf = (id: string) => id as SessionId

describe("a saved conversation", () => {
  it("comes back identical, in a file that only its owner can read, with nothing left beside it", async () => {
    const state = toState("one", { description: "first", model: "a/b" })
    await plugin.save(state)
    expect(await plugin.load(state.id)).toEqual(state)
    expect((await stat(join(folder, "one.json"))).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect(await readdir(folder)).toEqual(["one.json"])
    expect(JSON.parse(await readFile(join(folder, "one.json"), "utf8"))).toMatchObject({ version: 1 })
  })

  it("is replaced as a whole by the next save, however many come at once", async () => {
    const turns = Array.from({ length: 20 }, (_, index) => index)
    await Promise.all(turns.map((turn) => plugin.save(toState("one", { turns: turn }))))
    expect((await plugin.load(idOf("one")))?.turns).toBe(19)
    expect(await readdir(folder)).toEqual(["one.json"])
  })

  it("is kept where the configuration says", async () => {
    await plugin.initialize?.({ plugin: "file", storagePath: "kept" })
    await plugin.save(toState("one"))
    expect(await readdir(join(root, "kept"))).toEqual(["one.json"])
  })

  it.runIf(existsSync("/proc/self"))("is refused below a folder in which none can be made", async () => {
    await plugin.initialize?.({ plugin: "file", storagePath: "/proc/meanwhile/a" })
    await expect(plugin.save(toState("one"))).rejects.toThrow("no folder can be made there")
  })

  it("is neither saved nor listed where no folder can be, and the refusal names the key of the configuration", async () => {
    await writeFile(join(root, "file"), "")
    await plugin.initialize?.({ plugin: "file", storagePath: "file/talks" })
    const message = `The folder for conversations ${join(root, "file/talks")} cannot be used: a part of that path is a file. Name another one as session.storagePath in the configuration.`
    await expect(plugin.save(toState("one"))).rejects.toMatchObject({ code: "invalid_input", message })
    await expect(plugin.list()).rejects.toMatchObject({ message })
  })

  it("is saved after every tenth turn and on exit, but not when nothing was said", async () => {
    await plugin.onTurnCompleted?.(toState("one", { turns: 9 }))
    await plugin.onSessionEnded?.(toState("empty", { messages: [] }))
    expect(await plugin.list()).toEqual([])
    await plugin.onTurnCompleted?.(toState("one", { turns: 10 }))
    await plugin.onSessionEnded?.(toState("two"))
    expect((await plugin.list()).map(({ id }) => id).toSorted()).toEqual(["one", "two"])
  })

  it("can be described and deleted, in the file and in the engine", async () => {
    const state = toState("one")
    engine.sessions.set(state.id, state)
    await plugin.save(state)
    await plugin.setDescription(state.id, "about\nfiles")
    expect((await plugin.load(state.id))?.description).toBe("about files")
    expect(engine.sessions.get(state.id)?.description).toBe("about files")
    expect(await plugin.delete(state.id)).toBe(true)
    expect(await readdir(folder)).toEqual([])
    expect(engine.sessions.size).toBe(0)
    expect(await plugin.delete(state.id)).toBe(false)
    await expect(plugin.setDescription(state.id, "x")).rejects.toMatchObject({ code: "not_found" })
  })

  it("goes when it is the oldest of too many, and never when it is the one just saved", async () => {
    await plugin.initialize?.({ maxKept: 3 })
    for (const [index, id] of ["a", "b", "c", "d"].entries()) await plugin.save(toState(id, { updatedAt: index }))
    expect((await plugin.list()).map(({ id }) => id)).toEqual(["d", "c", "b"])
    await plugin.save(toState("old", { updatedAt: 0 }))
    expect((await plugin.list()).map(({ id }) => id)).toEqual(["d", "c", "old"])
  })
})

describe("an id", () => {
  it.each(["../evil", "a/b", "..", "", ".hidden", "a\0b", "C:\\x", "x".repeat(129)])(
    "that could lead elsewhere is refused: %j",
    async (id) => {
      await expect(plugin.save(toState(id))).rejects.toMatchObject({ code: "invalid_input" })
      await expect(plugin.load(idOf(id))).rejects.toMatchObject({ code: "invalid_input" })
      await expect(plugin.delete(idOf(id))).rejects.toMatchObject({ code: "invalid_input" })
      expect(await readdir(root)).toEqual([])
    },
  )

  it("inside a file must be the one in its name", async () => {
    await plugin.save(toState("one"))
    await writeFile(join(folder, "two.json"), await readFile(join(folder, "one.json")))
    await expect(plugin.load(idOf("two"))).rejects.toThrow("it holds the conversation one")
  })
})

describe("a file that cannot be read", () => {
  const newer = JSON.stringify({ version: 2, session: {} })
  const damaged = [
    ["cut.json", '{"version":1,"session":{"id":"cut"', "store_damaged", "(unreadable: damaged)"],
    ["odd.json", '{"version":1,"session":{"id":"odd"}}', "store_damaged", "(unreadable: damaged)"],
    ["new.json", newer, "store_newer", "(unreadable: written by a newer Meanwhile)"],
  ] as const

  it.each(damaged)(
    "%s is listed as such, refused on load, and left as it is",
    async (name, text, code, description) => {
      await plugin.initialize?.({ maxKept: 1 })
      await plugin.save(toState("fine"))
      await writeFile(join(folder, name), text)
      const id = idOf(name.slice(0, 3))
      expect(await plugin.list()).toContainEqual(expect.objectContaining({ id, description, turns: 0 }))
      await expect(plugin.load(id)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(join(folder, name)),
      })
      await expect(plugin.save(toState(id))).rejects.toMatchObject({ code })
      await plugin.save(toState("other", { updatedAt: 9_000 }))
      expect(await readFile(join(folder, name), "utf8")).toBe(text)
      expect((await readdir(folder)).toSorted()).toEqual([name, "other.json"].toSorted())
    },
  )

  it("is passed over when it is no conversation by its name", async () => {
    await plugin.save(toState("one"))
    await writeFile(join(folder, ".one.json"), "x")
    await writeFile(join(folder, "notes.txt"), "x")
    expect((await plugin.list()).map(({ id }) => id)).toEqual(["one"])
  })
})

describe("export and import", () => {
  it("carry a conversation from one engine to another", async () => {
    engine.sessions.set(idOf("one"), toState("one"))
    const path = await plugin.export(idOf("one"), "out.json")
    expect(path).toBe(join(root, "out.json"))
    const other = createDirectory()
    const importer = createFileSessionPlugin({ directory: other.directory, workingDirectory: root })
    expect(await importer.import("out.json")).toBe("one")
    expect(other.sessions.get(idOf("one"))).toEqual(toState("one"))
    expect(await importer.import("out.json")).toBe("one-2")
  })

  it("write over nothing", async () => {
    await plugin.save(toState("one"))
    await writeFile(join(root, "out.json"), "mine")
    await expect(plugin.export(idOf("one"), "out.json")).rejects.toThrow("exists already")
    expect(await readFile(join(root, "out.json"), "utf8")).toBe("mine")
    expect((await readdir(root)).toSorted()).toEqual([".meanwhile", "out.json"])
  })

  it("refuse a file that is missing or is no conversation, and say why", async () => {
    await expect(plugin.export(idOf("none"), "out.json")).rejects.toMatchObject({ code: "not_found" })
    await expect(plugin.import("none.json")).rejects.toThrow(/none\.json cannot be imported: ENOENT/)
    await expect(plugin.import(".")).rejects.toThrow("it is no file")
    await writeFile(join(root, "new.json"), JSON.stringify({ version: 7 }))
    await expect(plugin.import("new.json")).rejects.toThrow("Update Meanwhile to read it")
  })
})

describe("a workspace", () => {
  const acme = "acme" as WorkspaceId

  it("has files of its own, which the others neither list nor read nor delete", async () => {
    await plugin.save(toState("one", { workspace: acme, turns: 5 }))
    await plugin.save(toState("one"))
    expect((await readdir(folder)).toSorted()).toEqual(["@acme", "one.json"])
    expect(await plugin.list()).toMatchObject([{ id: "one", turns: 1 }])
    await plugin.delete(idOf("one"))
    const there = { ...engine.directory, workspace: acme }
    expect(await plugin.onSessionStarted?.(idOf("one"), there)).toMatchObject({ turns: 5 })
    expect(await plugin.onSessionStarted?.(idOf("one"), engine.directory)).toBeUndefined()
  })

  it("may have any name, and leads nowhere else", async () => {
    await plugin.save(toState("one", { workspace: "../../up" as WorkspaceId }))
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^@\.[0-9a-f]{32}$/)])
  })
})

describe("going on", () => {
  const resume = async (argument: string): Promise<readonly SessionId[]> => {
    const switched: SessionId[] = []
    const sessions = { directory: engine.directory }
    const context = { session: null, sessions, switchTo: async (id: SessionId) => void switched.push(id) }
    const command = plugin.userCommands?.find(({ name }) => name === "resume")
    await command?.run(argument, context as unknown as CommandContext)
    return switched
  }

  it("puts a conversation that only a file has into the engine first", async () => {
    await plugin.save(toState("one", { turns: 5 }))
    expect(await resume("1")).toEqual(["one"])
    expect(engine.sessions.get(idOf("one"))?.turns).toBe(5)
  })

  it("takes the engine's where both have it", async () => {
    await plugin.save(toState("one", { turns: 5 }))
    engine.sessions.set(idOf("one"), toState("one", { turns: 6 }))
    expect(await resume("one")).toEqual(["one"])
    expect(engine.sessions.get(idOf("one"))?.turns).toBe(6)
  })

  it("hands a saved conversation to a session that starts under its id without a history", async () => {
    await plugin.save(toState("one", { turns: 5 }))
    expect((await plugin.onSessionStarted?.(idOf("one"), engine.directory))?.turns).toBe(5)
    engine.sessions.set(idOf("one"), toState("one", { messages: [] }))
    expect((await plugin.onSessionStarted?.(idOf("one"), engine.directory))?.turns).toBe(5)
    engine.sessions.set(idOf("one"), toState("one"))
    expect(await plugin.onSessionStarted?.(idOf("one"), engine.directory)).toBeUndefined()
    expect(await plugin.onSessionStarted?.(idOf("new"), engine.directory)).toBeUndefined()
  })
})
