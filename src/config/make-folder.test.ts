import { existsSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createFolder } from "../../test/support/workplace.ts"
import { makeFolder } from "./make-folder.ts"

test("a folder is made with those above it, for its owner only", () => {
  const path = join(createFolder(), "a", "b")
  makeFolder(path)
  expect(statSync(path).mode & 0o777).toBe(0o700)
  makeFolder(path)
})

test("a folder below a file is refused", () => {
  const file = join(createFolder(), "file")
  writeFileSync(file, "")
  expect(() => makeFolder(join(file, "a"))).toThrow("ENOTDIR")
})

test.runIf(existsSync("/proc/self"))("a folder where none can be made is refused at once", () => {
  expect(() => makeFolder("/proc/meanwhile/data")).toThrow(/ENOENT|EACCES|EPERM/)
})
