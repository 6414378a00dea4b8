import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { readPublished } from "./support/documents/published.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const entries = readPublished(root)
const guide = readFileSync(`${root}docs/guide/api.md`, "utf8")

/** The names in code at the beginning of a row, or in a list, of an entry's part of the guide. */
function documentedIn(entry: string) {
  const part = guide.split(/^## /m).find((each) => each.startsWith(`${entry}\n`)) ?? ""
  const lists = part.split("\n").filter((line) => /^(- |  `)/.test(line))
  return {
    values: [...part.matchAll(/^\| `(\w+)` \| \S/gm)].map(([, name = ""]) => name),
    types: [...lists.join("\n").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  }
}

describe("the guide to what is published", () => {
  test.each(entries)("names every export of $entry, and no other", ({ entry, values, types }) => {
    const documented = documentedIn(entry)
    expect(documented.values.toSorted()).toEqual(values.toSorted())
    expect(documented.types.toSorted()).toEqual(types.toSorted())
  })

  test("has a part for every entry, and no other", () => {
    expect([...guide.matchAll(/^## (.*)$/gm)].map(([, entry]) => entry)).toEqual(entries.map(({ entry }) => entry))
  })
})

test("the first entry has at most 30 values", () => {
  expect(entries[0]).toMatchObject({ entry: "meanwhile" })
  expect(entries[0]?.values.length).toBeLessThanOrEqual(30)
})

test("no name is exported by two entries", () => {
  const names = entries.flatMap(({ values, types }) => [...values, ...types])
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
})
