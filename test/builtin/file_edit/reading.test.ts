import { describe, expect, it } from "vitest"
import { byteLength } from "../../../src/base/json.ts"
import { createDesk } from "../../support/builtin/file-edit-desk.ts"

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

  it("never gives more than 256 KiB at once, in whole lines if it can", async () => {
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
