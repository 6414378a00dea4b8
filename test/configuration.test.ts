import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { isSingleValue, keysOf } from "../src/config/section.ts"
import { configSections, SECTION_SUMMARIES } from "../src/config-sections.ts"

const guide = readFileSync(new URL("../docs/guide/configuration.md", import.meta.url), "utf8")
const toConstantCase = (name: string): string => name.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()
const BY_NAME = ["providers", "models"] as const

function partOf(section: string): string {
  return guide.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? ""
}

describe("the guide to the configuration", () => {
  const singles = Object.entries(configSections()).filter(([, schema]) => isSingleValue(schema))
  const withKeys = Object.entries(configSections()).filter(
    ([name, schema]) => !BY_NAME.some((each) => each === name) && !isSingleValue(schema),
  )

  test.each(singles)("names the default of %s, and the variable that sets it", (name, schema) => {
    expect(partOf(name)).toContain(`Default: ${JSON.stringify(schema.parse(undefined))}.`)
    expect(partOf(name)).toContain(`MEANWHILE_${toConstantCase(name)}`)
  })

  test.each(withKeys)("names every key of %s with its default and what it does, and no other", (name, schema) => {
    const documented = [...partOf(name).matchAll(/^\| (`.*) \|$/gm)].map((row) => row[1])
    const actual = keysOf(schema).map(
      (key) => `\`${key.name}\` | ${JSON.stringify(key.default) ?? "–"} | ${key.description}`,
    )
    expect(actual.length).toBeGreaterThan(0)
    expect(documented).toEqual(actual)
  })

  test.each(BY_NAME)("names every setting that an entry of %s has, and no other", (name) => {
    const documented = [...partOf(name).matchAll(/^\| `(\w+)` \|/gm)].map((row) => row[1])
    expect(documented).toEqual(keysOf(configSections()[name], ["some/name"]).map((key) => key.name))
    for (const setting of documented) expect(SECTION_SUMMARIES[name]).toContain(setting)
  })

  test("has a part for every section", () => {
    const parts = [...guide.matchAll(/^## (\w+)$/gm)].map((heading) => heading[1])
    expect(parts).toEqual(expect.arrayContaining(Object.keys(configSections())))
  })
})
