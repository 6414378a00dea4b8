import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { systemClock } from "../../../src/base/clock.ts"
import { byteLength } from "../../../src/base/json.ts"
import { createFileEditPlugin } from "../../../src/builtin/file_edit/file-edit-plugin.ts"
import { createEmbeddedEngine } from "../../../src/engine/embedded/engine.ts"
import { openRunner } from "../../support/open-runner.ts"
import { createDesk, createTestFolder } from "./file-edit-desk.ts"

describe("reading a file", () => {
  it("gives the text as it is and says which lines they are", async () => {
    const desk = createDesk()
    desk.put("src/a.ts", "one\r\ntwo\nthree")
    expect(await desk.call("readFile", { path: "src/a.ts" })).toBe("src/a.ts, lines 1 to 3 of 3:one\r\ntwo\nthree")
  })

  it("gives the lines that were asked for and says where to go on", async () => {
    const desk = createDesk()
    desk.put("a.txt", "1\n2\n3\n4\n")
    expect(await desk.call("readFile", { path: "a.txt", offset: 2, limit: 2 })).toBe(
      "a.txt, lines 2 to 3 of 4:2\n3\n[there is more: go on with offset 4]",
    )
    await expect(desk.call("readFile", { path: "a.txt", offset: 5 })).rejects.toThrow("has 4 lines")
  })

  it("never gives more than 256 KiB at once, whole lines where it can", async () => {
    const desk = createDesk()
    desk.put("lines.txt", `${"ä".repeat(49_999)}\n`.repeat(4))
    const some = await desk.call("readFile", { path: "lines.txt" })
    expect(some).toContain("lines 1 to 2 of 4")
    expect(some).toContain("go on with offset 3")
    desk.put("line.txt", "ä".repeat(200_000))
    const cut = await desk.call("readFile", { path: "line.txt" })
    expect(cut).toContain("was cut")
    expect(cut).not.toContain("\ufffd")
    expect(byteLength(JSON.stringify(cut))).toBeLessThan(257 * 1024)
  })

  it("says so when a file is binary, too large, empty or missing", async () => {
    const desk = createDesk()
    desk.put("image.png", Buffer.from([0x89, 0x50, 0, 1]))
    desk.put("latin.txt", Buffer.from([0x66, 0xfc, 0x72]))
    desk.put("huge.txt", "x".repeat(8 * 1024 * 1024 + 1))
    desk.put("empty.txt", "")
    await expect(desk.call("readFile", { path: "image.png" })).rejects.toThrow("binary file of 4 bytes")
    await expect(desk.call("readFile", { path: "latin.txt" })).rejects.toThrow("not UTF-8")
    await expect(desk.call("readFile", { path: "huge.txt" })).rejects.toThrow("with a command")
    await expect(desk.call("readFile", { path: "no.txt" })).rejects.toMatchObject({ code: "not_found" })
    expect(await desk.call("readFile", { path: "empty.txt" })).toBe("empty.txt is empty.")
  })
})

describe("changing a file", () => {
  it("replaces the one place where the old text is, and takes no sign of it for a pattern", async () => {
    const desk = createDesk()
    desk.put("a.ts", "const a = 1\nconst b = 2\n")
    const answer = await desk.call("updateFile", { path: "a.ts", old_text: "a = 1", new_text: "a = '$&$1'" })
    expect(answer).toEqual({ path: "a.ts", status: "updated", addedLines: 1, removedLines: 1 })
    expect(desk.get("a.ts")).toBe("const a = '$&$1'\nconst b = 2\n")
  })

  it("refuses an old text that is not there, or there twice, and changes nothing", async () => {
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

  it("writes line ends as given, and finds a place in a file with CRLF that was quoted without", async () => {
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

  it("does not hold what one conversation read against another", async () => {
    const desk = createDesk()
    desk.put("a.txt", "one")
    await desk.call("readFile", { path: "a.txt" }, "first")
    await desk.call("updateFile", { path: "a.txt", new_content: "two" }, "second")
    await expect(desk.call("updateFile", { path: "a.txt", new_content: "three" }, "first")).rejects.toThrow("Read it")
  })

  it("makes a new file with its folders, and never in place of another", async () => {
    const desk = createDesk()
    await desk.call("writeNewFile", { path: "a/b/c.txt", content: "new" })
    expect(desk.get("a/b/c.txt")).toBe("new")
    await expect(desk.call("writeNewFile", { path: "a/b/c.txt", content: "other" })).rejects.toThrow("updateFile")
    expect(desk.get("a/b/c.txt")).toBe("new")
  })

  it("makes changes of one file one after the other when they are asked for at once", async () => {
    const desk = createDesk()
    const words = Array.from({ length: 12 }, (_, index) => `word${index};`)
    desk.put("a.txt", words.join("\n"))
    await Promise.all(
      words.map((word) => desk.call("updateFile", { path: "a.txt", old_text: word, new_text: `new ${word}` })),
    )
    expect(desk.get("a.txt")).toBe(words.map((word) => `new ${word}`).join("\n"))
  })

  it("works as a tool of a real runner, which tells why one was refused", async () => {
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

describe("what a person is shown", () => {
  it("is a unified diff of what would be done now", async () => {
    const desk = createDesk()
    desk.put("a.txt", "one\ntwo\nthree\n")
    expect(await desk.preview("updateFile", { path: "a.txt", old_text: "two", new_text: "2" })).toBe(
      "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
    )
    expect(await desk.preview("writeNewFile", { path: "b.txt", content: "b\n" })).toContain(
      "--- /dev/null\n+++ b/b.txt",
    )
    expect(await desk.preview("removeFile", { path: "a.txt" })).toContain("+++ /dev/null\n@@ -1,3 +0,0 @@\n-one")
    expect(desk.get("a.txt")).toBe("one\ntwo\nthree\n")
    expect(existsSync(join(desk.root, "b.txt"))).toBe(false)
    await desk.call("updateFile", { path: "a.txt", new_content: "1\n" })
    expect(await desk.preview("undoFileChange", { path: "a.txt" })).toContain("-1\n+one\n+two")
  })

  it("cannot hide a line behind control characters", async () => {
    const desk = createDesk()
    const content = "rm -rf /\u001b[2K\rharmless\u202e\n"
    const shown = await desk.preview("writeNewFile", { path: "a.sh", content })
    expect(shown).toContain("+rm -rf /␛[2K␍harmless<U+202E>")
  })

  it("says why a change cannot be made", async () => {
    const desk = createDesk()
    await expect(desk.preview("updateFile", { path: "../outside/secret.txt", new_content: "x" })).rejects.toThrow(
      "outside",
    )
  })

  it("is bounded, says what it leaves out, and takes no long time for two texts that share nothing", async () => {
    const desk = createDesk()
    const long = await desk.preview("writeNewFile", { path: "a.txt", content: "0123456789\n".repeat(20_000) })
    expect(long?.length).toBeLessThan(70_000)
    expect(long).toContain("characters of this diff are not shown")
    const lines = (word: string): string => Array.from({ length: 20_000 }, (_, index) => `${word}${index}\n`).join("")
    desk.put("b.txt", lines("a"))
    const replaced = await desk.preview("updateFile", { path: "b.txt", new_content: lines("b") })
    expect(replaced).toContain("The whole of it is replaced by this:")
    expect(replaced).toContain("+b0\n+b1\n")
  })
})

describe("taking a change back", () => {
  it("goes back one change at a time, through updates, a removal and the making of the file", async () => {
    const desk = createDesk()
    await desk.call("writeNewFile", { path: "a.txt", content: "1" })
    await desk.call("updateFile", { path: "a.txt", new_content: "2" })
    chmodSync(join(desk.root, "a.txt"), 0o640)
    await desk.call("removeFile", { path: "a.txt" })
    desk.reopen()
    expect(await desk.call("undoFileChange", { path: "a.txt" })).toMatchObject({ status: "created" })
    expect(desk.get("a.txt")).toBe("2")
    expect(statSync(join(desk.root, "a.txt")).mode & 0o777).toBe(0o640)
    await desk.call("undoFileChange", { path: "a.txt" })
    expect(desk.get("a.txt")).toBe("1")
    expect(await desk.call("undoFileChange", { path: "a.txt" })).toMatchObject({ status: "removed" })
    expect(existsSync(join(desk.root, "a.txt"))).toBe(false)
    await expect(desk.call("undoFileChange", { path: "a.txt" })).rejects.toThrow("No change")
  })

  it("refuses when something else changed the file since, for that would be lost", async () => {
    const desk = createDesk()
    desk.put("a.txt", "1")
    await desk.call("updateFile", { path: "a.txt", new_content: "2" })
    desk.put("a.txt", "by hand")
    await expect(desk.call("undoFileChange", { path: "a.txt" })).rejects.toMatchObject({ code: "wrong_state" })
    expect(desk.get("a.txt")).toBe("by hand")
  })

  it("keeps a bounded number of old contents, which only their owner can read", async () => {
    const desk = createDesk({ backupsPerFile: 3 })
    desk.put("a.txt", "0")
    for (let number = 1; number <= 9; number++) {
      await desk.call("updateFile", { path: "a.txt", new_content: String(number) })
    }
    const [folder = ""] = readdirSync(desk.backupDirectory)
    const kept = readdirSync(join(desk.backupDirectory, folder))
    expect(kept.toSorted()).toEqual(["7.before", "8.before", "9.before", "changes.json"])
    expect(statSync(join(desk.backupDirectory, folder, "9.before")).mode & 0o077).toBe(0)
    for (const expected of ["8", "7", "6"]) {
      await desk.call("undoFileChange", { path: "a.txt" })
      expect(desk.get("a.txt")).toBe(expected)
    }
    await expect(desk.call("undoFileChange", { path: "a.txt" })).rejects.toMatchObject({ code: "not_found" })
  })

  it("leaves a file alone whose backup is damaged", async () => {
    const desk = createDesk()
    desk.put("a.txt", "1")
    await desk.call("updateFile", { path: "a.txt", new_content: "2" })
    const [folder = ""] = readdirSync(desk.backupDirectory)
    writeFileSync(join(desk.backupDirectory, folder, "1.before"), "tampered")
    await expect(desk.call("undoFileChange", { path: "a.txt" })).rejects.toMatchObject({ code: "store_damaged" })
    expect(desk.get("a.txt")).toBe("2")
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
