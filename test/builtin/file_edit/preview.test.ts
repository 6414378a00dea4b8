import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { createDesk } from "../../support/builtin/file-edit-desk.ts"

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

  it("is whole, however long, and is quick for two texts that share nothing", async () => {
    const desk = createDesk()
    const long = await desk.preview("writeNewFile", { path: "a.txt", content: "0123456789\n".repeat(20_000) })
    expect(long?.split("+0123456789\n")).toHaveLength(20_001)
    const lines = (word: string): string => Array.from({ length: 20_000 }, (_, index) => `${word}${index}\n`).join("")
    desk.put("b.txt", lines("a"))
    const replaced = await desk.preview("updateFile", { path: "b.txt", new_content: lines("b") })
    expect(replaced).toContain("The whole of it is replaced by this:")
    expect(replaced).toContain("+b0\n+b1\n")
  })
})
