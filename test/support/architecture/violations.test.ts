import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { findFolderCycles } from "./folders.ts"
import { IMPORT_TABLE } from "./import-table.ts"
import { findViolations, readSources } from "./violations.ts"

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "meanwhile-architecture-"))
})

afterEach(() => {
  rmSync(root, { recursive: true, force: true })
})

/** The violations in a tree of just these files. */
function check(files: Readonly<Record<string, string>>): readonly string[] {
  for (const [path, source] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), source)
  }
  return findViolations(root, IMPORT_TABLE)
}

const EMPTY = "export {}\n"

test("a tree that follows the table has no violation", () => {
  const violations = check({
    "base/clock.ts": EMPTY,
    "task/record.ts": 'import type { Clock } from "../base/clock.ts"\nexport type { Clock }\n',
    "plugin/tool.ts": 'import { z } from "zod"\nimport "../task/record.ts"\nexport const a = z\n',
    "engine/embedded/store.ts": 'import { DatabaseSync } from "node:sqlite"\nexport const a = DatabaseSync\n',
    "engine/suite/suite.ts": 'import { test } from "vitest"\nexport const a = test\n',
    "app.ts": 'export * from "./plugin/tool.ts"\nexport * from "./engine/embedded/store.ts"\n',
    "cli/main.ts": 'import { Command } from "commander"\nimport "../app.ts"\nexport const a = Command\n',
    "engine/embedded/store.test.ts": 'import "../suite/suite.ts"\nimport "../../../test/support/store.ts"\n',
    "task/record.test.ts": 'import "node:fs"\nimport "../app.ts"\nimport "vitest"\nimport "./record.ts"\n',
  })
  expect(violations).toEqual([])
})

test.each([
  ["an import", 'import { b } from "../runner/b.ts"'],
  ["a type import", 'import type { B } from "../runner/b.ts"'],
  ["an import for its effects", 'import "../runner/b.ts"'],
  ["a re-export", 'export { b } from "../runner/b.ts"'],
  ["a re-export of types", 'export type { B } from "../runner/b.ts"'],
  ["a re-export of everything", 'export * from "../runner/b.ts"'],
  ["a dynamic import", 'export const b = () => import("../runner/b.ts")'],
  ["a dynamic import with a template", "export const b = () => import(`../runner/b.ts`)"],
  ["an import type", 'export type B = import("../runner/b.ts").B'],
  ["a require", 'export const b = require("../runner/b.ts")'],
])("%s of a folder the table does not allow fails", (_form, line) => {
  const violations = check({ "task/a.ts": `// first line\n${line}\n`, "runner/b.ts": EMPTY })
  expect(violations).toEqual(['src/task/a.ts:2 imports "../runner/b.ts": task may import only base'])
})

test("a dynamic import of a computed name fails outside the folder that loads a person's configuration", () => {
  const source = "export const a = (name: string) => import(`./${name}.ts`)\n"
  const violations = check({ "runner/a.ts": source, "config/a.ts": source })
  expect(violations).toEqual([
    'src/runner/a.ts:1 imports "`./${name}.ts`": runner may not import a module by a computed name',
  ])
})

test.each(["base", "task", "plugin", "protocol", "client"])("a Node module in %s fails", (folder) => {
  const violations = check({ [`${folder}/a.ts`]: 'import "node:fs"\nimport "path"\nimport "fs/promises"\n' })
  const rule = `${folder} runs in a browser and may import no Node module`
  expect(violations).toEqual([
    `src/${folder}/a.ts:1 imports "node:fs": ${rule}`,
    `src/${folder}/a.ts:2 imports "path": ${rule}`,
    `src/${folder}/a.ts:3 imports "fs/promises": ${rule}`,
  ])
})

test("a package outside the places that may use it fails", () => {
  const violations = check({
    "base/a.ts": 'import "zod"\n',
    "plugin/a.ts": 'import "zod/mini"\nimport "@scope/name/part"\n',
    "engine/embedded/a.ts": 'import "vitest"\n',
  })
  expect(violations).toEqual([
    'src/base/a.ts:1 imports "zod": base may import no package',
    'src/engine/embedded/a.ts:1 imports "vitest": engine/embedded may import no package',
    'src/plugin/a.ts:2 imports "@scope/name/part": plugin may import only the packages zod, @standard-schema/spec',
  ])
})

test("a folder or a top-level file that the table does not know fails, with a test in it or not", () => {
  const violations = check({
    "utils/a.ts": EMPTY,
    "helpers.ts": EMPTY,
    "common/a.test.ts": EMPTY,
    "app.test.ts": EMPTY,
  })
  expect(violations).toEqual([
    'src/common/a.test.ts: the import table does not know "common"',
    'src/helpers.ts: the import table does not know "helpers.ts"',
    'src/utils/a.ts: the import table does not know "utils"',
  ])
})

test("one leaf that imports another fails", () => {
  const violations = check({
    "builtin/shell/a.ts": 'import "../files/b.ts"\nimport "../shared.ts"\n',
    "builtin/files/b.ts": EMPTY,
    "builtin/shared.ts": EMPTY,
  })
  expect(violations).toEqual([
    'src/builtin/shell/a.ts:1 imports "../files/b.ts": builtin/shell and builtin/files are leaves: neither may import the other',
  ])
})

test("common ground beside leaves may be imported by them, and may not import them", () => {
  const violations = check({
    "engine/embedded/a.ts": 'import "../rules/b.ts"\n',
    "engine/rules/b.ts": 'import "../embedded/c.ts"\n',
    "engine/embedded/c.ts": EMPTY,
  })
  expect(violations).toEqual([
    'src/engine/rules/b.ts:1 imports "../embedded/c.ts": engine/rules and engine/embedded are leaves: neither may import the other',
  ])
})

test("an import of a test, of a missing file or of something outside src fails", () => {
  const violations = check({
    "runner/a.ts": 'import "./a.test.ts"\nimport "./b.ts"\nimport "../../package.json"\nimport "/etc/hosts"\n',
    "runner/a.test.ts": EMPTY,
  })
  expect(violations).toEqual([
    'src/runner/a.ts:1 imports "./a.test.ts": only tests import tests',
    'src/runner/a.ts:2 imports "./b.ts": there is no such file',
    'src/runner/a.ts:3 imports "../../package.json": code in src imports nothing outside of it',
    'src/runner/a.ts:4 imports "/etc/hosts": runner may import only the packages zod, @opentelemetry/api',
  ])
})

test("a cycle between files fails, also one made of types", () => {
  const violations = check({
    "task/a.ts": 'import "./b.ts"\n',
    "task/b.ts": 'import type { C } from "./c.ts"\nexport type { C }\n',
    "task/c.ts": EMPTY + 'import type { A } from "./a.ts"\nexport type C = A\n',
  })
  expect(violations).toEqual([
    'src/task/c.ts:2 imports "./a.ts": it closes a cycle, task/a.ts → task/b.ts → task/c.ts → task/a.ts',
  ])
})

test("folders that import one another are found, a folder and one inside it too", () => {
  check({
    "runner/a.ts": 'import "./inner/b.ts"\n',
    "runner/inner/b.ts": 'import "../c.ts"\n',
    "runner/c.ts": EMPTY,
    "task/d.ts": 'import "../base/e.ts"\n',
    "base/e.ts": EMPTY,
  })
  expect(findFolderCycles(readSources(root))).toEqual([["runner", "runner/inner"]])
})
