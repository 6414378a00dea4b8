import { spawnSync } from "node:child_process"
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { readFolderContents } from "./folder-contents.ts"

const NOBODY = 65_534

let root: string
let directory: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "meanwhile-contents-"))
  directory = join(root, "project")
  await mkdir(directory)
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function write(path: string, content = "x"): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true })
  await writeFile(join(directory, path), content)
}

const look = (homeDirectory = join(root, "home")) => readFolderContents({ directory, homeDirectory })

it("names what could run or be believed, and nothing else", async () => {
  for (const file of ["README.md", "src/meanwhile.config.ts", ".meanwhile/store.sqlite", ".meanwhile/spool/1/output"]) {
    await write(file)
  }
  expect((await look()).files).toEqual([])
  const files = [
    "meanwhile.config.ts",
    ".mcp.json",
    ".meanwhile/commands/a.md",
    ".meanwhile/commands/deep/b.md",
    ".meanwhile/profiles/c.md",
    ".meanwhile/references/references.json",
  ]
  for (const file of files) await write(file)
  expect((await look()).files).toEqual(files)
})

it("leaves out files that this user cannot read", async () => {
  await write(".mcp.json", "{}")
  await write(".meanwhile/commands/a.md")
  const isRoot = process.getuid?.() === 0
  await chmod(root, 0o755)
  await chmod(join(directory, ".meanwhile"), isRoot ? 0o700 : 0)
  const program = `
    import { readFolderContents } from ${JSON.stringify(new URL("folder-contents.ts", import.meta.url).href)}
    const { files } = await readFolderContents(${JSON.stringify({ directory, homeDirectory: join(root, "home") })})
    console.log(...files)
  `
  const found = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: directory,
    encoding: "utf8",
    ...(isRoot && { uid: NOBODY }),
  })
  await chmod(join(directory, ".meanwhile"), 0o700)
  expect(found).toMatchObject({ stdout: ".mcp.json\n", stderr: "" })
})

it("has another hash after every change: of content, of a name, of what lies behind a link", async () => {
  const hashes = new Set<string>()
  const note = async () => hashes.add((await look()).sha256)
  await note()
  await write(".meanwhile/commands/a.md", "one")
  await note()
  await write(".meanwhile/commands/a.md", "two")
  await note()
  await rename(join(directory, ".meanwhile/commands/a.md"), join(directory, ".meanwhile/commands/b.md"))
  await note()
  await writeFile(join(root, "outside"), "one")
  await symlink(join(root, "outside"), join(directory, ".mcp.json"))
  await note()
  await writeFile(join(root, "outside"), "two")
  await note()
  expect(hashes.size).toBe(6)
})

it("is the same for the same folder by another way, and for nothing but the same contents", async () => {
  await write(".mcp.json", "{}")
  await symlink(directory, join(root, "link"))
  const byLink = await readFolderContents({ directory: join(root, "link"), homeDirectory: join(root, "home") })
  expect(byLink).toEqual(await look())
})

it("reads no device and no folder that a link leads to", async () => {
  await symlink("/dev/zero", join(directory, "meanwhile.config.json"))
  await symlink("/dev/zero", join(directory, ".mcp.json"))
  await write(".meanwhile/commands/a.md")
  await symlink("/dev", join(directory, ".meanwhile/commands/all"))
  await symlink("/nowhere", join(directory, ".meanwhile/commands/gone.md"))
  expect((await look()).files).toEqual([".meanwhile/commands/a.md"])
})

it("leaves out what is the person's own in their home, and keeps the rest", async () => {
  await write(".mcp.json")
  await write(".meanwhile/commands/a.md")
  expect((await look(directory)).files).toEqual([".mcp.json"])
})

it("says that there is no such folder", async () => {
  await rm(directory, { recursive: true })
  await expect(look()).rejects.toMatchObject({ code: "not_found", message: expect.stringContaining(directory) })
})
