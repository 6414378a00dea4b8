import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { toBackgroundConfig } from "../src/runner/config.ts"

test("the guide names every key of the configuration with its default, and no other", () => {
  const guide = readFileSync(new URL("../docs/guide/configuration.md", import.meta.url), "utf8")
  const documented = [...guide.matchAll(/^\| `(\w+)` \| (\S+) \|/gm)].map((row) => [row[1], row[2]])
  const actual = Object.entries(toBackgroundConfig()).map(([key, value]) => [key, JSON.stringify(value)])
  expect(documented).toEqual(actual)
})
