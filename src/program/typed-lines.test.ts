import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createFolder } from "../../test/support/workplace.ts"
import { openTypedLines } from "./typed-lines.ts"

const open = (folder: string, environment: Record<string, string> = {}) => openTypedLines(folder, environment)
const fileOf = (folder: string): string => join(folder, "typed-lines")

test("lines of one chat are there in the next, newest first, in a file that only its owner can read", () => {
  const folder = createFolder()
  const first = open(folder)
  expect(first.earlier).toEqual([])
  first.keep("hello")
  first.keep("two\nlines")
  expect(open(folder).earlier).toEqual(["two\nlines", "hello"])
  expect(statSync(fileOf(folder)).mode & 0o777).toBe(0o600)
  chmodSync(fileOf(folder), 0o644)
  open(folder)
  expect(statSync(fileOf(folder)).mode & 0o777).toBe(0o600)
})

test("no secret, no answer of the inbox and nothing very long is kept", () => {
  const folder = createFolder()
  const lines = open(folder, { SOME_API_TOKEN: "correct-horse-battery" })
  lines.keep(`use sk-ant-api03-${"A1b2".repeat(20)}`)
  lines.keep("the token is correct-horse-battery")
  lines.keep("/answer 1a2b3c4d my mother's name")
  lines.keep("x".repeat(10_001))
  lines.keep("plain")
  expect(readFileSync(fileOf(folder), "utf8")).toBe(`"plain"\n`)
})

test("the newest 1,000 are kept, and a file that has grown is made short again", () => {
  const folder = createFolder()
  const row = (number: number): string => `${JSON.stringify(`line ${number}`)}\n`
  writeFileSync(fileOf(folder), Array.from({ length: 2_500 }, (_, number) => row(number)).join(""))
  const { earlier } = open(folder)
  expect(earlier).toHaveLength(1_000)
  expect(earlier[0]).toBe("line 2499")
  expect(readFileSync(fileOf(folder), "utf8").split("\n")).toHaveLength(1_001)
  expect(statSync(fileOf(folder)).mode & 0o777).toBe(0o600)
  expect(open(folder).earlier).toEqual(earlier)
})

test("a file of two megabytes is read from its end, and rows that cannot be understood are skipped", () => {
  const folder = createFolder()
  writeFileSync(fileOf(folder), `"old"\n"${"x".repeat(2 * 1024 * 1024)}"\n"kept"\n{"a":1}\nnot json\n"newest"\n"cut o`)
  expect(open(folder).earlier).toEqual(["newest", "kept"])
  expect(statSync(fileOf(folder)).size).toBeLessThan(100)
})

test("a link, a folder of that name, and a folder that cannot be written keep nothing and break nothing", () => {
  const folder = createFolder()
  const secret = join(folder, "secret")
  writeFileSync(secret, `"mine"\n`)
  symlinkSync(secret, fileOf(folder))
  const lines = open(folder)
  expect(lines.earlier).toEqual([])
  lines.keep("hello")
  expect(readFileSync(secret, "utf8")).toBe(`"mine"\n`)
  const other = createFolder()
  mkdirSync(fileOf(other))
  open(other).keep("hello")
  const missing = join(other, "missing")
  open(missing).keep("hello")
  expect(existsSync(missing)).toBe(false)
})
