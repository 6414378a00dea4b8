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
  hasLog: false,
}

const look = (folder: DataFolderIdentity, storeId: string | null = null) => known.look(folder, async () => storeId)

it("knows a folder by its path, its id, its inode and its store", async () => {
  expect(await look(FOLDER)).toBe("unknown")
  await known.remember(FOLDER, null)
  expect(await look(FOLDER)).toBe("known")
  expect(await look({ ...FOLDER, id: "two" })).toBe("changed")
  expect(await look({ ...FOLDER, inode: "9" })).toBe("changed")
  expect(await look({ ...FOLDER, storeInode: "9" })).toBe("changed")
  expect(await look({ ...FOLDER, path: "/elsewhere/.meanwhile" })).toBe("copied")
  expect(await look({ ...FOLDER, path: "/elsewhere/.meanwhile", id: null })).toBe("unknown")
})

it("takes the store that a new folder gets for its own, and no other one after that", async () => {
  await known.remember({ ...FOLDER, storeInode: null }, null)
  expect(await look(FOLDER)).toBe("known")
  await known.remember(FOLDER, null)
  expect(await look({ ...FOLDER, storeInode: "9" })).toBe("changed")
})

it("knows a folder whose store was deleted, and no other store that comes into it unnoted", async () => {
  await known.remember(FOLDER, "one")
  expect(await look({ ...FOLDER, storeInode: null })).toBe("known")
  expect(await look({ ...FOLDER, storeInode: null, hasLog: true })).toBe("changed")
  expect(await look({ ...FOLDER, storeInode: "9" })).toBe("changed")
})

it("knows the log that it has noted, and no other one that holds something", async () => {
  await known.remember({ ...FOLDER, logInode: "3" }, null)
  expect(await look(FOLDER)).toBe("known")
  expect(await look({ ...FOLDER, logInode: "3", hasLog: true })).toBe("known")
  expect(await look({ ...FOLDER, logInode: "4" })).toBe("known")
  expect(await look({ ...FOLDER, logInode: "4", hasLog: true })).toBe("changed")
  expect(await look({ ...FOLDER, logInode: null, hasLog: true })).toBe("changed")
})

it("knows a store by the id in it once that was noted, and opens none that differs otherwise", async () => {
  await known.remember(FOLDER, null)
  expect(await look(FOLDER, "one")).toBe("known")
  await known.remember(FOLDER, "one")
  expect(await look(FOLDER, "one")).toBe("known")
  expect(await look(FOLDER, "two")).toBe("changed")
  expect(await look(FOLDER, null)).toBe("changed")
  const fail = () => Promise.reject(new Error("it was opened"))
  expect(await known.look({ ...FOLDER, storeInode: "9" }, fail)).toBe("changed")
})

it("distrusts a folder that was replaced until it is remembered again", async () => {
  await known.distrust(FOLDER)
  expect(await look(FOLDER)).toBe("unknown")
  await known.remember(FOLDER, null)
  await known.distrust(FOLDER)
  expect(await look(FOLDER)).toBe("changed")
  await known.remember(FOLDER, null)
  expect(await look(FOLDER)).toBe("known")
})

it("lists the folders, and forgets one", async () => {
  const other = { ...FOLDER, path: "/other/.meanwhile", id: "two" }
  await Promise.all([known.remember(FOLDER, null), known.remember(other, null)])
  expect((await known.list()).map(({ path }) => path).toSorted()).toEqual([other.path, FOLDER.path])
  expect(await known.forget(FOLDER.path)).toBe(true)
  expect(await known.forget(FOLDER.path)).toBe(false)
  expect(await look(FOLDER)).toBe("unknown")
})

it("writes notes that only the person can read, and believes none that others can write", async () => {
  await known.remember(FOLDER, null)
  const [name = ""] = await readdir(join(directory, "data-folders"))
  const note = join(directory, "data-folders", name)
  expect((await stat(note)).mode & 0o777).toBe(0o600)
  await chmod(note, 0o666)
  await expect(look(FOLDER)).rejects.toMatchObject({ code: "permission_denied" })
})
