import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { createDesk } from "../../support/builtin/file-edit-desk.ts"

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

  it("refuses if something else has changed the file since, because that change would be lost", async () => {
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

  it("leaves a file with a damaged backup alone", async () => {
    const desk = createDesk()
    desk.put("a.txt", "1")
    await desk.call("updateFile", { path: "a.txt", new_content: "2" })
    const [folder = ""] = readdirSync(desk.backupDirectory)
    writeFileSync(join(desk.backupDirectory, folder, "1.before"), "tampered")
    await expect(desk.call("undoFileChange", { path: "a.txt" })).rejects.toMatchObject({ code: "store_damaged" })
    expect(desk.get("a.txt")).toBe("2")
  })
})
