import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createKnownDataFolders, type DataFolderIdentity, type KnownDataFolders } from "./known-data-folders.ts"

let directory: string
let known: KnownDataFolders
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "meanwhile-known-"))
  known = createKnownDataFolders({ directory: join(directory, "data-folders") })
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const FOLDER: DataFolderIdentity = {
  path: "/project/.meanwhile",
  id: "one",
  inode: "7",
  storeInode: "8",
  logInode: null,
}

it("knows a folder by its path, its id, its inode and its store", async () => {
  expect(await known.look(FOLDER)).toBe("unknown")
  await known.remember(FOLDER)
  expect(await known.look(FOLDER)).toBe("known")
  expect(await known.look({ ...FOLDER, id: "two" })).toBe("changed")
  expect(await known.look({ ...FOLDER, inode: "9" })).toBe("changed")
  expect(await known.look({ ...FOLDER, storeInode: "9" })).toBe("changed")
  expect(await known.look({ ...FOLDER, path: "/elsewhere/.meanwhile" })).toBe("copied")
  expect(await known.look({ ...FOLDER, path: "/elsewhere/.meanwhile", id: null })).toBe("unknown")
})

it("takes the store that a new folder gets for its own, and no other one after that", async () => {
  await known.remember({ ...FOLDER, storeInode: null })
  expect(await known.look(FOLDER)).toBe("known")
  await known.remember(FOLDER)
  expect(await known.look({ ...FOLDER, storeInode: "9" })).toBe("changed")
})

it("knows the log that it has noted, and no other one", async () => {
  await known.remember({ ...FOLDER, logInode: "3" })
  expect(await known.look(FOLDER)).toBe("known")
  expect(await known.look({ ...FOLDER, logInode: "3" })).toBe("known")
  expect(await known.look({ ...FOLDER, logInode: "4" })).toBe("changed")
})

it("lists the folders, and forgets one", async () => {
  const other = { ...FOLDER, path: "/other/.meanwhile", id: "two" }
  await Promise.all([known.remember(FOLDER), known.remember(other)])
  expect((await known.list()).map(({ path }) => path).toSorted()).toEqual([other.path, FOLDER.path])
  expect(await known.forget(FOLDER.path)).toBe(true)
  expect(await known.forget(FOLDER.path)).toBe(false)
  expect(await known.look(FOLDER)).toBe("unknown")
})

it("writes notes that only the person can read, and believes none that others can write", async () => {
  await known.remember(FOLDER)
  const [name = ""] = await readdir(join(directory, "data-folders"))
  const note = join(directory, "data-folders", name)
  expect((await stat(note)).mode & 0o777).toBe(0o600)
  await chmod(note, 0o666)
  await expect(known.look(FOLDER)).rejects.toMatchObject({ code: "permission_denied" })
})
