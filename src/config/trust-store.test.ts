import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import type { FolderContents } from "./folder-contents.ts"
import { createTrustStore, type TrustStore } from "./trust-store.ts"

let directory: string
let path: string
let store: TrustStore
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "meanwhile-trust-"))
  path = join(directory, "home", "trust.json")
  store = createTrustStore({ path })
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const folder = (sha256: string, at = "/project"): FolderContents => ({ directory: at, files: [".mcp.json"], sha256 })

it("trusts one folder with one content", async () => {
  expect(await store.look(folder("a"))).toBe("untrusted")
  await store.trust(folder("a"))
  expect(await store.look(folder("a"))).toBe("trusted")
  expect(await store.look(folder("b"))).toBe("changed")
  expect(await store.look(folder("a", "/elsewhere"))).toBe("untrusted")
  expect(await store.look(folder("a", "__proto__"))).toBe("untrusted")
})

it("has nothing to say of a folder without files", async () => {
  expect(await store.look({ ...folder("a"), files: [] })).toBe("empty")
})

it("keeps and lists what was trusted before, and forgets what is revoked", async () => {
  await store.trust(folder("a"))
  await store.trust(folder("b", "/other"))
  expect(await store.list()).toMatchObject([{ directory: "/project", files: [".mcp.json"] }, { directory: "/other" }])
  expect(await store.revoke("/project")).toBe(true)
  expect(await store.revoke("/project")).toBe(false)
  expect(await store.look(folder("a"))).toBe("untrusted")
  expect(await store.look(folder("b", "/other"))).toBe("trusted")
})

it("writes a list that only the person can read, and leaves no draft behind", async () => {
  await store.trust(folder("a"))
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
  expect(await readdir(dirname(path))).toEqual(["trust.json"])
})

it("does not believe a list that others can write", async () => {
  await store.trust(folder("a"))
  await chmod(path, 0o666)
  await expect(store.look(folder("a"))).rejects.toMatchObject({ code: "permission_denied" })
})

it.each(["not json", `{ "version": 2, "folders": {} }`, `{ "version": 1 }`])(
  "refuses a list that says %s and leaves it as it is",
  async (content) => {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content, { mode: 0o600 })
    await expect(store.look(folder("a"))).rejects.toMatchObject({ code: "invalid_input" })
    await expect(store.trust(folder("a"))).rejects.toThrow("Repair or remove it")
    expect(await readFile(path, "utf8")).toBe(content)
  },
)
