import { spawnSync } from "node:child_process"
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { createBackupStore } from "../../../src/builtin/file_edit/backup-store.ts"
import { createWorkingFiles } from "../../../src/builtin/file_edit/working-files.ts"
import { createWorkingRoot } from "../../../src/builtin/file_edit/working-root.ts"
import { createDesk } from "../../support/builtin/file-edit-desk.ts"
import { actFreely } from "../../../src/plugin/context.ts"

const CALLER = { session: null, act: actFreely }

type Desk = ReturnType<typeof createDesk>
type HarmfulCall = readonly [tool: string, more: object]

/** Calls every tool that could read or change the path, each with an input that would do harm. */
async function expectRefused(desk: Desk, path: string, tools: readonly HarmfulCall[] = TOOLS): Promise<void> {
  for (const [tool, more] of tools) {
    await expect(desk.call(tool, { path, ...more }), `${tool} ${path}`).rejects.toMatchObject({
      code: expect.stringMatching(/permission_denied|invalid_input/),
    })
  }
}
const UPDATE: HarmfulCall = ["updateFile", { new_content: "x" }]
const WRITE: HarmfulCall = ["writeNewFile", { content: "x" }]
const CHANGES: readonly HarmfulCall[] = [
  UPDATE,
  ["updateFile", { old_text: "secret", new_text: "x" }],
  WRITE,
  ["removeFile", {}],
  ["undoFileChange", {}],
]
const TOOLS: readonly HarmfulCall[] = [["readFile", {}], ...CHANGES]

describe("a path outside the working folder", () => {
  it("is refused by every tool, however it is written", async () => {
    const desk = createDesk()
    desk.put("sub/a.txt", "a")
    for (const path of [
      "../outside/secret.txt",
      "~/secret.txt",
      "sub/../../outside/secret.txt",
      "./sub/../../outside/secret.txt",
      join(desk.outside, "secret.txt"),
      `${desk.root}/../outside/secret.txt`,
      `${desk.root}2/secret.txt`,
      "..",
      ".",
      " ",
      "a\0.txt",
      "a\n.txt",
      "gpj\u202e.txt",
      "/dev/zero",
      "/etc/passwd",
      "a".repeat(5_000),
    ]) {
      await expectRefused(desk, path)
    }
    expect(readFileSync(join(desk.outside, "secret.txt"), "utf8")).toBe("secret\n")
  })

  it("is refused when a link of any kind leads there", async () => {
    const desk = createDesk()
    symlinkSync(join(desk.outside, "secret.txt"), join(desk.root, "file"))
    symlinkSync(desk.outside, join(desk.root, "folder"))
    symlinkSync("folder", join(desk.root, "chain"))
    symlinkSync(join(desk.outside, "not-yet.txt"), join(desk.root, "dangling"))
    symlinkSync(join(desk.outside, "not-yet"), join(desk.root, "nowhere"))
    symlinkSync("loop", join(desk.root, "loop"))
    for (const path of ["file", "folder/secret.txt", "chain/secret.txt", "folder/sub/new.txt", "dangling"]) {
      await expectRefused(desk, path)
    }
    await expectRefused(desk, "nowhere/new.txt", [WRITE])
    await expect(desk.call("writeNewFile", { path: "loop", content: "x" })).rejects.toThrow()
    expect(readFileSync(join(desk.outside, "secret.txt"), "utf8")).toBe("secret\n")
    expect(existsSync(join(desk.outside, "not-yet.txt"))).toBe(false)
    expect(existsSync(join(desk.outside, "sub"))).toBe(false)
  })

  it("is not reached by a link that is put in the way between the check and the change", async () => {
    const desk = createDesk()
    desk.put("sub/secret.txt", "mine\n")
    const root = createWorkingRoot(desk.root, { privatePaths: [], protectedPaths: [] })
    const files = createWorkingFiles(root, createBackupStore(desk.backupDirectory, 3))
    const swapFolder = () => {
      renameSync(join(desk.root, "sub"), join(desk.root, "moved"))
      symlinkSync(desk.outside, join(desk.root, "sub"))
      return Buffer.from("overwritten")
    }
    await expect(files.change("sub/secret.txt", CALLER, swapFolder)).rejects.toMatchObject({
      code: "permission_denied",
    })
    const putLink = () => {
      symlinkSync(join(desk.outside, "secret.txt"), join(desk.root, "new.txt"))
      return Buffer.from("overwritten")
    }
    await expect(files.change("new.txt", CALLER, putLink)).rejects.toMatchObject({ code: "invalid_input" })
    const putFolder = () => {
      symlinkSync(desk.outside, join(desk.root, "fresh"))
      return Buffer.from("overwritten")
    }
    await expect(files.change("fresh/secret2.txt", CALLER, putFolder)).rejects.toMatchObject({
      code: "permission_denied",
    })
    expect(readFileSync(join(desk.outside, "secret.txt"), "utf8")).toBe("secret\n")
    expect(existsSync(join(desk.outside, "secret2.txt"))).toBe(false)
  })

  it("keeps its content when a hard link to it inside is changed", async () => {
    const desk = createDesk()
    linkSync(join(desk.outside, "secret.txt"), join(desk.root, "hard.txt"))
    await desk.call("updateFile", { path: "hard.txt", new_content: "changed" })
    expect(readFileSync(join(desk.outside, "secret.txt"), "utf8")).toBe("secret\n")
  })
})

describe("a path inside the working folder", () => {
  it("may be absolute, and the root itself may be given as a link", async () => {
    const desk = createDesk()
    symlinkSync(desk.root, join(desk.folder, "link"))
    const linked = createDesk({ root: join(desk.folder, "link"), protectedPaths: ["kept"] })
    desk.put("a.txt", "a")
    desk.put("kept/b.txt", "secret")
    for (const path of ["a.txt", join(desk.root, "a.txt"), join(desk.folder, "link", "a.txt"), "x/../a.txt"]) {
      expect(await linked.call("readFile", { path })).toContain("a.txt, lines 1 to 1")
    }
    await expectRefused(linked, "kept/b.txt", CHANGES)
  })

  it("is read through a link that stays inside, and changed under its own name only", async () => {
    const desk = createDesk()
    desk.put("real/a.txt", "a")
    symlinkSync("real", join(desk.root, "alias"))
    symlinkSync("real/a.txt", join(desk.root, "shortcut"))
    expect(await desk.call("readFile", { path: "alias/a.txt" })).toContain("real/a.txt, lines")
    expect(await desk.call("readFile", { path: "shortcut" })).toContain("real/a.txt, lines")
    await expect(desk.call("removeFile", { path: "shortcut" })).rejects.toThrow('a symbolic link to "real/a.txt"')
    expect(await desk.call("updateFile", { path: "alias/a.txt", new_content: "b" })).toMatchObject({
      path: "real/a.txt",
    })
  })

  it("must be a regular file", async () => {
    const desk = createDesk()
    mkdirSync(join(desk.root, "folder"))
    spawnSync("/bin/sh", ["-c", 'mkfifo "$0"', join(desk.root, "pipe")])
    for (const path of ["folder", "pipe"]) await expectRefused(desk, path, [["readFile", {}], UPDATE, WRITE])
    desk.put("a.txt", "a")
    await expect(desk.call("writeNewFile", { path: "a.txt/b.txt", content: "b" })).rejects.toThrow("not a folder")
  })
})

describe("what is never changed by a tool", () => {
  it.each([
    ".git/config",
    ".GIT/hooks/pre-commit",
    ".git./config",
    ".g\u200cit/config",
    "sub/.git",
    "meanwhile.config.ts",
    "Meanwhile.Config.mjs",
    "sub/meanwhile.config.json",
    ".mcp.json",
    "locked/any.txt",
  ])("is %s, which can be read", async (path) => {
    const desk = createDesk({ protectedPaths: ["locked"] })
    desk.put(path, "secret")
    expect(await desk.call("readFile", { path })).toContain("secret")
    await expectRefused(desk, path, CHANGES)
    expect(desk.get(path)).toBe("secret")
  })

  it.each([".meanwhile/store.sqlite", ".Meanwhile/x", "sub/.meanwhile/y"])(
    "is %s, which is not even read",
    async (path) => {
      const desk = createDesk()
      desk.put(path, "secret")
      await expectRefused(desk, path)
    },
  )

  it("is the folder of backups when it lies inside", async () => {
    const desk = createDesk()
    const inside = createDesk({ root: desk.folder, backupDirectory: join(desk.folder, "kept") })
    writeFileSync(join(desk.folder, "a.txt"), "a")
    await inside.call("updateFile", { path: "a.txt", new_content: "b" })
    await expectRefused(inside, "kept/changes.json")
  })

  it("is not reached through a link either", async () => {
    const desk = createDesk()
    desk.put(".git/config", "secret")
    symlinkSync(".git", join(desk.root, "innocent"))
    await expectRefused(desk, "innocent/config", CHANGES)
    await expectRefused(desk, "innocent/new", [WRITE])
  })
})
