import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { endProcessesAfterTest } from "../support/processes.ts"
import { createFolder, toTestMarker } from "../support/workplace.ts"
import { builtProgram } from "../support/built-program.ts"

const MAIN = builtProgram("cli/main")

function listTasks(home: string, environment: Readonly<Record<string, string>> = {}): string {
  const cwd = createFolder()
  endProcessesAfterTest(toTestMarker(cwd))
  return execFileSync(process.execPath, [MAIN, "tasks"], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: home, MEANWHILE_TEST: cwd, ...environment },
    encoding: "utf8",
  })
}

const compiledIn = (home: string): string => join(home, ".meanwhile", "compiled")

test("compiled code is kept in the person's own folder, and the next start prints the same", () => {
  const home = createFolder()
  const first = listTasks(home)
  expect(readdirSync(compiledIn(home), { recursive: true }).length).toBeGreaterThan(10)
  expect(listTasks(home)).toBe(first)
  expect(statSync(join(home, ".meanwhile")).mode & 0o777).toBe(0o700)
})

test("the program works the same if the home cannot be written to, or the person wants no such folder", () => {
  const folder = createFolder()
  const file = join(folder, "file")
  writeFileSync(file, "")
  const unwanted = createFolder()
  expect(listTasks(unwanted, { NODE_DISABLE_COMPILE_CACHE: "1" })).toBe(listTasks(file))
  expect(existsSync(compiledIn(unwanted))).toBe(false)
})

test("the version is printed without writing anything", () => {
  const home = createFolder()
  execFileSync(process.execPath, [MAIN, "--version"], { env: { HOME: home } })
  expect(readdirSync(home)).toEqual([])
})
