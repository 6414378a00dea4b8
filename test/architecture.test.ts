import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { IMPORT_TABLE } from "./architecture/import-table.ts"
import { findViolations } from "./architecture/violations.ts"

const sourceRoot = fileURLToPath(new URL("../src", import.meta.url))

test("every import in src is one the import table allows, and none is part of a cycle", () => {
  expect(findViolations(sourceRoot, IMPORT_TABLE)).toEqual([])
})
