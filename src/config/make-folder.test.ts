import { existsSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createRuntime } from "../app.ts"
import { createFolder } from "../../test/support/workplace.ts"
import { makeDataFolder, makeFolder } from "./make-folder.ts"

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

test.runIf(existsSync("/proc/self"))("a data folder where none can be made is refused by its name", async () => {
  expect(() => makeDataFolder("/proc/x")).toThrow(
    "The data folder /proc/x cannot be used: no folder can be made there.",
  )
  await expect(createRuntime({ dataDirectory: "/proc/x" })).rejects.toMatchObject({ code: "store_unavailable" })
})
