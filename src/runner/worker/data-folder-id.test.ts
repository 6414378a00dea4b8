import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createFolder } from "../../../test/support/workplace.ts"
import { readDataFolderId } from "./data-folder-id.ts"

test("a data folder has one id, however many ask at once, and keeps it when it is moved", async () => {
  const folder = join(createFolder(), "data")
  const ids = await Promise.all(Array.from({ length: 8 }, () => readDataFolderId(folder)))
  expect(new Set(ids).size).toBe(1)
  expect(readdirSync(folder)).toEqual(["folder-id"])
  renameSync(folder, `${folder}-moved`)
  expect(await readDataFolderId(`${folder}-moved`)).toBe(ids[0])
  expect(await readDataFolderId(folder)).not.toBe(ids[0])
})

test("a folder that cannot keep an id has none", async () => {
  const folder = createFolder()
  const file = join(folder, "file")
  writeFileSync(file, "")
  expect(await readDataFolderId(file)).toBeNull()
  mkdirSync(join(folder, "folder-id"))
  expect(await readDataFolderId(folder)).toBeNull()
})
