import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { VERSION } from "./version.ts"

test("the version that programs report is that of the package", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  expect(VERSION).toBe(version)
})
