import { chmodSync, existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { systemClock } from "../../../src/base/clock.ts"
import { createFileEditPlugin } from "../../../src/builtin/file_edit/file-edit-plugin.ts"
import { createEmbeddedEngine } from "../../../src/engine/embedded/engine.ts"
import { openRunner } from "../../support/open-runner.ts"
import { createDesk, createTestFolder } from "../../support/builtin/file-edit-desk.ts"

describe("changing a file", () => {
  it("replaces the one place that holds the old text, and takes no character of it for a pattern", async () => {
    const desk = createDesk()
    desk.put("a.ts", "const a = 1\nconst b = 2\n")
    const answer = await desk.call("updateFile", { path: "a.ts", old_text: "a = 1", new_text: "a = '$&$1'" })
    expect(answer).toEqual({ path: "a.ts", status: "updated", addedLines: 1, removedLines: 1 })
    expect(desk.get("a.ts")).toBe("const a = '$&$1'\nconst b = 2\n")
  })

  it("refuses an old text that occurs nowhere, or twice, and changes nothing", async () => {
    const desk = createDesk()
    desk.put("a.ts", "aaa")
    for (const [old_text, message] of [
      ["b", "does not occur"],
      ["aa", "more than once"],
    ]) {
      await expect(desk.call("updateFile", { path: "a.ts", old_text, new_text: "x" })).rejects.toThrow(message)
    }
    expect(desk.get("a.ts")).toBe("aaa")
  })

  it("takes exactly one of the two forms", async () => {
    const desk = createDesk()
    desk.put("a.ts", "a")
    for (const input of [
      {},
      { old_text: "a" },
      { new_text: "a" },
      { new_content: "b", old_text: "a", new_text: "b" },
      { old_text: "a", new_text: "a" },
      { old_text: "", new_text: "a" },
      { new_content: "\ud800" },
    ]) {
      await expect(desk.call("updateFile", { path: "a.ts", ...input })).rejects.toThrow()
    }
    expect(desk.get("a.ts")).toBe("a")
  })

  it("writes line ends as given, and finds a place in a CRLF file that was quoted with LF", async () => {
    const desk = createDesk()
    desk.put("a.txt", "one\r\ntwo\r\n")
    await desk.call("updateFile", { path: "a.txt", old_text: "one\ntwo", new_text: "one\ntwo\nthree" })
    expect(desk.get("a.txt")).toBe("one\r\ntwo\r\nthree\r\n")
    await desk.call("updateFile", { path: "a.txt", new_content: "x\r\ny\n" })
    expect(desk.get("a.txt")).toBe("x\r\ny\n")
  })

  it("keeps the mode, replaces the file in one move and leaves nothing else behind", async () => {
    const desk = createDesk()
    desk.put("run.sh", "old")
    chmodSync(join(desk.root, "run.sh"), 0o755)
    const before = statSync(join(desk.root, "run.sh"))
    await desk.call("updateFile", { path: "run.sh", new_content: "new" })
    const after = statSync(join(desk.root, "run.sh"))
    expect(after.mode).toBe(before.mode)
    expect(after.ino).not.toBe(before.ino)
    expect(readdirSync(desk.root)).toEqual(["run.sh"])
  })

  it("refuses a file that something else changed since it was read, until it is read again", async () => {
    const desk = createDesk()
    desk.put("a.txt", "one")
    await desk.call("readFile", { path: "a.txt" })
    desk.put("a.txt", "two")
    const update = { path: "a.txt", new_content: "three" }
    await expect(desk.call("updateFile", update)).rejects.toThrow("Read it again")
    expect(desk.get("a.txt")).toBe("two")
    await desk.call("readFile", { path: "a.txt" })
    await desk.call("updateFile", update)
    await desk.call("updateFile", { path: "a.txt", new_content: "four" })
    expect(desk.get("a.txt")).toBe("four")
  })

  it("does not refuse one conversation because of what another one has read", async () => {
    const desk = createDesk()
    desk.put("a.txt", "one")
    await desk.call("readFile", { path: "a.txt" }, "first")
    await desk.call("updateFile", { path: "a.txt", new_content: "two" }, "second")
    await expect(desk.call("updateFile", { path: "a.txt", new_content: "three" }, "first")).rejects.toThrow("Read it")
  })

  it("makes a new file with its folders, and never replaces a file", async () => {
    const desk = createDesk()
    await desk.call("writeNewFile", { path: "a/b/c.txt", content: "new" })
    expect(desk.get("a/b/c.txt")).toBe("new")
    await expect(desk.call("writeNewFile", { path: "a/b/c.txt", content: "other" })).rejects.toThrow("updateFile")
    expect(desk.get("a/b/c.txt")).toBe("new")
  })

  it("makes changes of one file one after the other, even if all are requested at once", async () => {
    const desk = createDesk()
    const words = Array.from({ length: 12 }, (_, index) => `word${index};`)
    desk.put("a.txt", words.join("\n"))
    await Promise.all(
      words.map((word) => desk.call("updateFile", { path: "a.txt", old_text: word, new_text: `new ${word}` })),
    )
    expect(desk.get("a.txt")).toBe(words.map((word) => `new ${word}`).join("\n"))
  })

  it("works as a tool of a real runner, which tells why a change was refused", async () => {
    const folder = createTestFolder()
    const { tools } = createFileEditPlugin({ root: folder, backupDirectory: join(folder, "backups") })
    const engine = await createEmbeddedEngine({ path: join(folder, "store.sqlite"), clock: systemClock })
    onTestFinished(() => engine.close())
    const runner = await openRunner(folder, { engine, clock: systemClock, tools })
    const call = (tool: string, input: unknown) => runner.execute({ tool, input }).answer
    expect(await call("writeNewFile", { path: "a.txt", content: "a\n" })).toMatchObject({
      outcome: "completed",
      patch: { digest: ["created a.txt (+1 -0 lines)"] },
    })
    expect(await call("readFile", { path: "../a.txt" })).toMatchObject({
      outcome: "failed",
      failure: { message: expect.stringContaining("outside the working folder") },
    })
  })
})

describe("a call that is repeated after a crash", () => {
  it.each([
    ["updateFile", { path: "a.txt", new_content: "2" }],
    ["updateFile", { path: "a.txt", old_text: "1", new_text: "1\n1b" }],
    ["writeNewFile", { path: "new.txt", content: "2" }],
    ["removeFile", { path: "a.txt" }],
  ])("finds its work done: %s %o", async (tool, input) => {
    const desk = createDesk()
    desk.put("a.txt", "1")
    await desk.call(tool, input)
    const first = existsSync(join(desk.root, input.path)) ? desk.get(input.path) : null
    desk.reopen()
    expect(await desk.call(tool, input)).toMatchObject({ status: "unchanged" })
    expect(existsSync(join(desk.root, input.path)) ? desk.get(input.path) : null).toBe(first)
    await desk.call("undoFileChange", { path: input.path })
    await expect(desk.call("undoFileChange", { path: input.path })).rejects.toMatchObject({ code: "not_found" })
  })

  it("is made when the crash came between the backup and the change", async () => {
    const desk = createDesk()
    desk.put("a.txt", "1")
    const update = { path: "a.txt", new_content: "2" }
    await desk.call("updateFile", update)
    desk.put("a.txt", "1") // The backup is there, the change is not.
    desk.reopen()
    expect(await desk.call("updateFile", update)).toMatchObject({ status: "updated" })
    await desk.call("undoFileChange", { path: "a.txt" })
    expect(desk.get("a.txt")).toBe("1")
    await expect(desk.call("undoFileChange", { path: "a.txt" })).rejects.toMatchObject({ code: "not_found" })
  })
})
