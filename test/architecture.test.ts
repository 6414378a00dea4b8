import { existsSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { findFolderCycles, findUpwardImports, RUNNER_FOLDERS } from "./support/architecture/folders.ts"
import { IMPORT_TABLE } from "./support/architecture/import-table.ts"
import { lazily } from "../src/base/lazily.ts"
import { findViolations, readSources } from "./support/architecture/violations.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const sources = lazily(() => readSources(`${root}src`))

test("every import in src is one the import table allows, and none is part of a cycle", () => {
  expect(findViolations(`${root}src`, IMPORT_TABLE)).toEqual([])
})

test("ARCHITECTURE.md shows the import table as it is", () => {
  const shown = readFileSync(`${root}ARCHITECTURE.md`, "utf8")
    .split("<!-- import table -->")[1]
    ?.split("<!-- end of import table -->")[0]
  const rows = Object.entries(IMPORT_TABLE.layers).map(([name, layer]) => {
    const imports = layer.imports.join(", ").replace("*", "everything")
    const isPure = IMPORT_TABLE.pure.includes(name)
    return `| ${name} | ${imports || "–"} | ${layer.packages.join(", ") || "–"} | ${isPure ? "yes" : ""} |`
  })
  const table = ["| in src | may import | packages | runs in a browser |", "|---|---|---|---|", ...rows].join("\n")
  expect(shown?.trim()).toBe(table)
})

test("every file that a route in ARCHITECTURE.md names is there", () => {
  const [, routes = ""] = readFileSync(`${root}ARCHITECTURE.md`, "utf8").split("## Routes through the files\n")
  const rows = (routes.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| `"))
  const missing = rows.flatMap((row) => {
    let folder = ""
    const names = [...(row.split(" | ")[0] ?? "").matchAll(/`([^`]+\.ts)`/g)].map(([, name = ""]) => name)
    return names.filter((name) => {
      // A name without a folder is relative to the file before it, or to the top folder of that file.
      const places = [`src/${name}`, `src/${folder}/${name}`, `src/${folder.split("/")[0]}/${name}`]
      const place = places.find((path) => existsSync(`${root}${path}`))
      if (place) folder = dirname(place).slice("src/".length)
      return place === undefined
    })
  })
  expect(rows.length).toBeGreaterThan(20)
  expect(missing).toEqual([])
})

test("no folders of src import one another", () => {
  expect(findFolderCycles(sources())).toEqual([])
})

test("cli asks a desk for tasks and conversations: it has no runtime with a store, tasks and sessions in its hands", () => {
  const past = /\bRuntime\b|\bmeanwhile\.(?:engine|tasks|sessions)\b/
  const files = sources().filter(({ path }) => path.startsWith("cli/") && !path.endsWith(".test.ts"))
  expect(files.length).toBeGreaterThan(50)
  expect(files.filter(({ path }) => past.test(readFileSync(`${root}src/${path}`, "utf8")))).toEqual([])
})

test("imports in runner lead down the order that ARCHITECTURE.md shows", () => {
  expect(findUpwardImports(sources())).toEqual([])
  const shown = readFileSync(`${root}ARCHITECTURE.md`, "utf8")
    .split("<!-- runner folders -->")[1]
    ?.split("<!-- end of runner folders -->")[0]
  const rows = Object.entries(RUNNER_FOLDERS).map(([name, holds]) => `| ${name} | ${holds} |`)
  expect(shown?.trim()).toBe(["| in runner | holds |", "|---|---|", ...rows].join("\n"))
})
