import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTrustStore, type TrustStore } from "./trust.ts"

let directory: string
let path: string
let store: TrustStore
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "meanwhile-trust-"))
  path = join(directory, "home", "trusted.json")
  store = createTrustStore({ path })
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const file = (content: string, at = "/project/meanwhile.config.ts") => ({ path: at, content: Buffer.from(content) })

it("trusts a file by its path and its content", async () => {
  expect(await store.isTrusted(file("a"))).toBe(false)
  await store.trust(file("a"))
  expect(await store.isTrusted(file("a"))).toBe(true)
  expect(await store.isTrusted(file("b"))).toBe(false)
  expect(await store.isTrusted(file("a", "/elsewhere/meanwhile.config.ts"))).toBe(false)
  expect(await store.isTrusted(file("a", "__proto__"))).toBe(false)
})

it("keeps what was trusted before, and forgets what is distrusted", async () => {
  await store.trust(file("a"))
  await store.trust(file("b", "/other/meanwhile.config.ts"))
  expect(await store.isTrusted(file("a"))).toBe(true)
  expect(await store.distrust("/project/meanwhile.config.ts")).toBe(true)
  expect(await store.distrust("/project/meanwhile.config.ts")).toBe(false)
  expect(await store.isTrusted(file("a"))).toBe(false)
  expect(await store.isTrusted(file("b", "/other/meanwhile.config.ts"))).toBe(true)
})

it("writes a list that only the person can read, and leaves no draft behind", async () => {
  await store.trust(file("a"))
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
  expect(await readdir(dirname(path))).toEqual(["trusted.json"])
})

it("does not believe a list that others can write", async () => {
  await store.trust(file("a"))
  await chmod(path, 0o666)
  await expect(store.isTrusted(file("a"))).rejects.toMatchObject({ code: "permission_denied" })
})

it.each(["not json", `{ "version": 2, "files": {} }`, `{ "version": 1 }`])(
  "refuses a list that says %s and leaves it as it is",
  async (content) => {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content, { mode: 0o600 })
    await expect(store.isTrusted(file("a"))).rejects.toMatchObject({ code: "invalid_input" })
    await expect(store.trust(file("a"))).rejects.toThrow("Repair or remove it")
    expect(await readFile(path, "utf8")).toBe(content)
  },
)
