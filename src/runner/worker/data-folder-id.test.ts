import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createFolder } from "../../../test/support/workplace.ts"
import { readDataFolderId } from "./data-folder-id.ts"

test("a data folder has one id, whoever asks at the same moment, and keeps it where it is moved to", async () => {
  const folder = join(createFolder(), "data")
  const ids = await Promise.all(Array.from({ length: 8 }, () => readDataFolderId(folder)))
  expect(new Set(ids).size).toBe(1)
  expect(readdirSync(folder)).toEqual(["folder-id"])
  renameSync(folder, `${folder}-moved`)
  expect(await readDataFolderId(`${folder}-moved`)).toBe(ids[0])
  expect(await readDataFolderId(folder)).not.toBe(ids[0])
})

test("a folder that takes none has none", async () => {
  const folder = createFolder()
  const file = join(folder, "file")
  writeFileSync(file, "")
  expect(await readDataFolderId(file)).toBeNull()
  mkdirSync(join(folder, "folder-id"))
  expect(await readDataFolderId(folder)).toBeNull()
})
