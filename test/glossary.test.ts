import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { EFFECTS } from "../src/plugin/effect.ts"
import { GROUP_LIFECYCLE } from "../src/task/group.ts"
import { RUN_STATUSES } from "../src/task/lifecycle.ts"
import { LIFETIMES, NOTIFY_MODES, TASK_KINDS } from "../src/task/record.ts"
import { STOPPERS } from "../src/task/stop.ts"
import { WAIT_REASONS } from "../src/task/wait.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const glossary = readFileSync(`${root}GLOSSARY.md`, "utf8")
const rows = glossary.split("\n").filter((line) => line.startsWith("| "))

const GROUP_STATES = Object.keys(GROUP_LIFECYCLE)
const WORDS = { EFFECTS, RUN_STATUSES, LIFETIMES, NOTIFY_MODES, TASK_KINDS, STOPPERS, WAIT_REASONS, GROUP_STATES }

describe("the glossary", () => {
  test.each(Object.entries(WORDS))("has a row for every word of %s", (_name, words) => {
    expect(words.filter((word) => !rows.some((row) => row.startsWith(`| \`${word}\` |`)))).toEqual([])
  })

  test("names words to avoid, and no file or exported name of src has one in it", () => {
    const avoided = rows.flatMap((row) => [...(row.split("|")[3] ?? "").matchAll(/`(\w+)`/g)].map((match) => match[1]))
    expect(avoided).toContain("job")
    const paths = readdirSync(`${root}src`, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".ts"),
    )
    const names = paths.flatMap((path) => [path, ...toExportedNames(readFileSync(`${root}src/${path}`, "utf8"))])
    const found = names.filter((name) => toWords(name).some((word) => avoided.includes(word)))
    expect(found).toEqual([])
  })
})

function toExportedNames(source: string): readonly string[] {
  const declarations = source.matchAll(
    /^export (?:declare )?(?:async )?(?:const|function|interface|type|class) (\w+)/gm,
  )
  return [...declarations].map((match) => match[1] ?? "")
}

/** `createTaskStore` and `task-store.ts` alike: their words, in lower case, without a plural's s. */
function toWords(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .map((word) => word.replace(/s$/, ""))
}
