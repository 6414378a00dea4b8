import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))
const LEFT_OUT = new Set([".git", "node_modules", "dist", "coverage", ".meanwhile"])

const files = list(root)
const documents = files.filter((path) => path.endsWith(".md"))

function list(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !LEFT_OUT.has(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return list(path)
      return entry.isFile() ? [relative(root, path).split(sep).join("/")] : []
    })
}

const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** `path:line text` for every line that matches. */
function findLines(paths: readonly string[], pattern: RegExp): readonly string[] {
  return paths.flatMap((path) =>
    read(path)
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  )
}

const WRITTEN = /\.(ts|tsx|md|json|sql|sh|html|css)$|(^|\/)(run|LICENSE|\.\w+)$/
const written = files.filter((path) => WRITTEN.test(path) && path !== "package-lock.json")
const others = written.filter((path) => path !== "test/repository.test.ts")

test("no file names a path of somebody's machine", () => {
  expect(
    findLines(
      others,
      new RegExp(`(?<![\\w.~-])(?:/work|/root|${RegExp.escape(homedir())}|${RegExp.escape(dirname(root))})/`),
    ),
  ).toEqual([])
})

test("no file speaks of how the project is worked on, or leaves work for later", () => {
  const words = /\bissue #?\d|\bissue tracker|\bfield notes?\b|\bseed 00\d|\bdesign(?:\.md| §)|style\.md/i
  expect(findLines(others, /\b(?:TODO|FIXME|XXX)\b/)).toEqual([])
  expect(findLines(others, words)).toEqual([])
})

test("no test is left out of a run, and none is run alone", () => {
  const tests = files.filter((path) => path.endsWith(".test.ts"))
  expect(tests.length).toBeGreaterThan(100)
  expect(findLines(tests, /\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|only|todo|fails)\b/)).toEqual([])
})

test("every property is tried with the seed of its run", () => {
  const sources = files.filter((path) => path.endsWith(".ts") && path !== "test/repository.test.ts")
  // The suite for authors of engines is published, without what only tests import.
  const seeded = ["src/engine/suite/describe-model.ts", "test/support/assert-property.ts"]
  const drawing = /\bfc\.(?:assert|check|sample|statistics)\b|\{[^}]*\b(?:assert|check)\b[^}]*\} from "fast-check"/
  const lines = findLines(sources, drawing)
  expect(new Set(lines.map((line) => line.split(":")[0]))).toEqual(new Set(seeded))
  expect(seeded.filter((path) => !/\bseed: (?:TEST_)?SEED\b/.test(read(path)))).toEqual([])
})

test("the lock file names no host, and every dependency one exact version", () => {
  expect(findLines(["package-lock.json"], /"resolved": *"http/)).toEqual([])
  const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>
  const versions = Object.entries({ ...dependencies, ...devDependencies })
  expect(versions.filter(([, version]) => !/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
})

test("every npm command in a document is a script of the package", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> }
  const builtIn = new Set(["install", "ci", "pack"])
  const missing = documents.flatMap((path) =>
    [...read(path).matchAll(/(?:`|&& |^)npm (?:run )?(?:-s )?([a-z][\w:-]*)/gm)]
      .map((match) => match[1] ?? "")
      .filter((name) => !builtIn.has(name) && name !== "run" && !(name in scripts))
      .map((name) => `${path}: npm ${name}`),
  )
  expect(missing).toEqual([])
})

test("every relative link in a document leads to a file", () => {
  const broken = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)]
      .map((match) => match[1] ?? "")
      .filter((target) => !existsSync(join(root, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  )
  expect(broken).toEqual([])
})

test("the command that continuous integration runs can be executed", () => {
  expect(statSync(join(root, ".ci/run")).mode & 0o111).not.toBe(0)
})
